/** An attacker with write access to Valkey: messages of real nodes are recorded, changed and sent again. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RedisClient } from 'bun';
import { until } from '../../packages/server/src/testing/until.ts';
import { EventReader } from '../event-reader.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { durableOf, type ServerProcess, submit } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster } from './nodes.ts';

describe.skipIf(missing !== null)('recorded, changed and forged messages', () => {
  let cluster: Cluster;
  let model: DictatedModel;
  let nodes: [ServerProcess, ServerProcess];
  let attacker: RedisClient;
  let ear: RedisClient;
  const recorded: { readonly channel: string; readonly text: string }[] = [];

  beforeAll(async () => {
    model = dictatedModel();
    cluster = await startCluster({ ...model.settings, ...LONG_LEASE });
    nodes = [await cluster.start(), await cluster.start()];
    [attacker, ear] = [new RedisClient(cluster.redis.url), new RedisClient(cluster.redis.url)];
    for (const channel of (await attacker.send('PUBSUB', ['CHANNELS', 'parlance:*'])) as string[])
      await ear.subscribe(channel, (text) => {
        if (text !== 'probe') recorded.push({ channel, text });
      });
  });
  afterAll(async () => {
    attacker?.close();
    ear?.close();
    await cluster?.stop();
    model?.stop();
  });

  test('have no effect on what nodes show and store, and genuine ones still arrive', async () => {
    const [here, there] = nodes;
    await submit(here, 'attacked', 'Hi');
    const reader = new EventReader('attacked');
    await reader.follow(there);
    model.say('The code ');
    await reader.until(({ latest }) => latest === 'The code ');
    await until(() => recorded.some(({ text }) => text.includes('The code ')));

    const before = [...recorded];
    const channels = [...new Set(before.map(({ channel }) => channel))];
    const forged = before.flatMap(({ channel, text }) => [
      { channel, text },
      { channel, text: text.replaceAll('The code ', 'Forged! ').replace('"number":', '"number":9') },
      { channel, text: text.replaceAll('attacked', 'elsewhere') },
      { channel, text: text.slice(0, text.length / 2) },
      { channel, text: text.replace('"version":2', '"version":1') },
      ...channels.filter((other) => other !== channel).map((other) => ({ channel: other, text })),
    ]);
    for (const { channel, text } of forged) await attacker.publish(channel, text);
    for (const key of (await attacker.send('KEYS', ['parlance:*'])) as string[])
      for (const member of ['', 'x', '["mallory","",null]', `${'0'.repeat(64)}["mallory","",null]`])
        await attacker.send('ZADD', [key, '99999999999999', member]);

    model.say('is 42');
    await reader.until(({ latest }) => latest === 'The code is 42');
    model.end();
    await reader.until(({ events }) => events.some(({ type }) => type === 'turn.ended'));
    expect(reader.events).toEqual(await durableOf(here, 'attacked'));
    expect([...reader.blocks.values()]).toEqual(['The code is 42']);
    for (const node of nodes) {
      expect((await fetch(`${node.http}/v1/sessions/elsewhere`)).status).toBe(404);
      expect((await fetch(`${node.http}/ready`)).status).toBe(200);
    }
  });

  test('with keys of another type leave events to the database', async () => {
    const [here, there] = nodes;
    const keys = (await attacker.send('KEYS', ['parlance:*'])) as string[];
    for (const key of keys) {
      await attacker.send('DEL', [key]);
      await attacker.send('SET', [key, 'not a set']);
    }
    await submit(here, 'untyped', 'Hi');
    const reader = new EventReader('untyped');
    await reader.follow(there);
    model.say('Done');
    model.end();
    await reader.until(({ events }) => events.some(({ type }) => type === 'turn.ended'));
    expect(reader.events).toEqual(await durableOf(here, 'untyped'));
    for (const node of nodes) expect((await fetch(`${node.http}/ready`)).status).toBe(200);
  });
});
