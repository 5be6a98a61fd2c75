/** One session on three nodes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { EventReader } from '../event-reader.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { durableOf, postJson, type ServerProcess, submit } from '../server-process.ts';
import { type Cluster, missing, startCluster } from './nodes.ts';

const onCluster = describe.skipIf(missing !== null);

const typesOf = (events: readonly DurableEvent[]): string[] => events.map(({ type }) => type);
const has = (type: DurableEvent['type']) => (reader: EventReader) =>
  reader.events.some((event) => event.type === type);

const send = (node: ServerProcess, session: string, command: object) =>
  postJson(`${node.http}/v1/sessions/${session}/commands`, command);

/** The reader has every stored event once and in order, and the whole text of each block. */
async function expectWhole(node: ServerProcess, session: string, reader: EventReader): Promise<void> {
  const stored = await durableOf(node, session);
  expect(reader.events).toEqual(stored);
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
  for (const event of stored)
    if (event.type === 'text.ended' && reader.blocks.has(event.block))
      expect(reader.blocks.get(event.block)).toBe(event.text);
}

onCluster(`a session on three nodes${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let model: DictatedModel;
  let nodes: [ServerProcess, ServerProcess, ServerProcess];
  let session = '';
  let count = 0;

  beforeAll(async () => {
    model = dictatedModel();
    cluster = await startCluster({ ...model.settings, TOOL_USE_APPROVAL_MODE: 'suggest' });
    const first = await cluster.start();
    nodes = [first, ...(await Promise.all([cluster.start(), cluster.start()]))];
  });
  afterEach(() => model.idle());
  afterAll(async () => {
    await cluster?.stop();
    model?.stop();
  });
  beforeEach(() => {
    session = `session-${++count}`;
  });

  const readers = async (): Promise<EventReader[]> => {
    const all = nodes.map(() => new EventReader(session));
    await Promise.all(all.map((reader, index) => reader.follow(nodes[index] ?? nodes[0])));
    return all;
  };
  const allUntil = (all: readonly EventReader[], done: (reader: EventReader) => boolean) =>
    Promise.all(all.map((reader) => reader.until(done)));

  test('is read on every node in order and exactly once, with text while it is written', async () => {
    expect(await submit(nodes[0], session, 'Hi')).toBe(true);
    const all = await readers();
    let text = '';
    for (const word of ['One ', 'two ', 'three']) {
      text += word;
      model.say(word);
      await allUntil(all, ({ latest }) => latest === text);
    }
    model.end();
    await allUntil(all, has('turn.ended'));
    for (const reader of all) await expectWhole(nodes[1], session, reader);
  });

  test('gives a reader that joins on another node the text so far', async () => {
    await submit(nodes[0], session, 'Hi');
    const first = new EventReader(session);
    await first.follow(nodes[0]);
    model.say('One two ');
    await first.until(({ latest }) => latest === 'One two ');
    const late = new EventReader(session);
    await late.follow(nodes[2]);
    await late.until(({ latest }) => latest === 'One two ');
    model.say('three');
    model.end();
    await late.until(has('turn.ended'));
    expect(late.latest).toBe('One two three');
    await expectWhole(nodes[1], session, late);
  });

  test('keeps exactly the text so far when it is cancelled on another node', async () => {
    await submit(nodes[0], session, 'Hi');
    const all = await readers();
    model.say('One two');
    await allUntil(all, ({ latest }) => latest === 'One two');
    expect((await send(nodes[2], session, { type: 'turn.cancel' })).status).toBe(200);
    await allUntil(all, has('turn.cancelled'));
    const [text] = (await durableOf(nodes[1], session)).filter(({ type }) => type === 'text.ended');
    expect(text).toMatchObject({ text: 'One two', interrupted: true });
    for (const reader of all) await expectWhole(nodes[1], session, reader);
  });

  test('requests an approval on one node and continues where it is answered', async () => {
    await submit(nodes[0], session, 'Make a file');
    const all = await readers();
    model.call('shell', { command: ['touch', `${session}.txt`] });
    await allUntil(all, has('approval.requested'));
    expect((await send(nodes[1], session, { type: 'approval.answer', answer: 'once' })).status).toBe(200);
    model.say('Done.');
    model.end();
    await allUntil(all, has('turn.ended'));
    expect(existsSync(join(cluster.folder, `${session}.txt`))).toBe(true);
    const stored = await durableOf(nodes[2], session);
    expect(typesOf(stored).filter((type) => type === 'tool.started')).toHaveLength(1);
    expect(typesOf(stored)).not.toContain('turn.resumed');
    for (const reader of all) await expectWhole(nodes[2], session, reader);
  });

  test('accepts concurrent inputs of three nodes, each once', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
    const sent = texts.map((text, index) => submit(nodes[index % 3] ?? nodes[0], session, text));
    expect(await Promise.all(sent)).toEqual(texts.map(() => true));
    const all = await readers();
    const ended = ({ events }: EventReader) =>
      events.filter(({ type }) => type === 'turn.ended').length === texts.length;
    for (const _ of texts) {
      model.say('Yes.');
      model.end();
    }
    await allUntil(all, ended);
    const stored = await durableOf(nodes[0], session);
    const inputs = stored.flatMap((event) => (event.type === 'input.accepted' ? event.parts : []));
    expect(inputs.map((part) => (part.type === 'text' ? part.text : '')).sort()).toEqual(texts.sort());
    for (const reader of all) await expectWhole(nodes[0], session, reader);
  });

  test('is streamed by block while the bus is down, and by token again afterwards', async () => {
    await submit(nodes[0], session, 'Hi');
    const all = await readers();
    model.say('One ');
    await allUntil(all, ({ latest }) => latest === 'One ');
    await cluster.redis.kill();
    model.say('two.');
    model.end();
    await allUntil(all, has('turn.ended'));
    for (const reader of all) await expectWhole(nodes[0], session, reader);
    await cluster.redis.restart();
    for (const { http } of nodes)
      await until(async () => /^parlance_bus_up 1$/m.test(await (await fetch(`${http}/metrics`)).text()));
    await submit(nodes[1], session, 'Again');
    model.say('Three ');
    await allUntil(all, ({ latest }) => latest === 'Three ');
    model.end();
    await allUntil(all, ({ events }) => events.filter(({ type }) => type === 'turn.ended').length === 2);
    for (const reader of all) await expectWhole(nodes[0], session, reader);
  });

  test('continues on its node after a restart of the database', async () => {
    await submit(nodes[0], session, 'Hi');
    const all = await readers();
    model.say('Half ');
    await allUntil(all, ({ latest }) => latest === 'Half ');
    await cluster.postgres.shutDown();
    await cluster.postgres.restart();
    model.say('Whole.');
    model.end();
    await allUntil(all, has('turn.ended'));
    expect(typesOf(await durableOf(nodes[1], session))).not.toContain('turn.failed');
    for (const reader of all) expect(reader.events).toEqual(await durableOf(nodes[1], session));
  });

  test('is not driven twice after its node was paused: no event or effect is repeated', async () => {
    const effects = join(cluster.folder, `${session}.txt`);
    await submit(nodes[0], session, 'Go');
    const other = new EventReader(session);
    await other.follow(nodes[1]);
    model.say('Half ');
    await other.until(({ latest }) => latest === 'Half ');
    const askedAgain = model.asked();
    process.kill(nodes[0].pid, 'SIGSTOP');
    await other.until(has('turn.resumed'));
    await askedAgain;
    model.call('shell', { command: ['sh', '-c', `echo once >> ${session}.txt`] });
    await other.until(has('approval.requested'));
    await send(nodes[1], session, { type: 'approval.answer', answer: 'once' });
    await other.until(has('tool.ended'));
    process.kill(nodes[0].pid, 'SIGCONT');
    const woken = new EventReader(session);
    await woken.follow(nodes[0]);
    model.say('Done.');
    model.end();
    await other.until(has('turn.ended'));
    await woken.until(has('turn.ended'));
    expect(readFileSync(effects, 'utf8')).toBe('once\n');
    await expectWhole(nodes[2], session, other);
    expect(woken.events).toEqual(await durableOf(nodes[0], session));
  });

  test('is taken over when its node is killed, and handed over when it stops', async () => {
    const fourth = await cluster.start();
    const fifth = await cluster.start({ PARLANCE_GRACE: '0' });
    for (const [node, end] of [
      [fourth, () => fourth.kill()],
      [fifth, () => fifth.terminate()],
    ] as const) {
      session = `session-${++count}`;
      await submit(node, session, 'Hi');
      const other = new EventReader(session);
      await other.follow(nodes[1]);
      model.say('Half ');
      await other.until(({ latest }) => latest === 'Half ');
      const askedAgain = model.asked();
      await end();
      await other.until(has('turn.resumed'));
      await askedAgain;
      model.say('Whole.');
      model.end();
      await other.until(has('turn.ended'));
      await expectWhole(nodes[2], session, other);
    }
  });
});
