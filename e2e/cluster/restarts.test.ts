/** Nodes that are replaced or paused while clients send messages. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DurableEvent, textOf } from '../../packages/protocol/src/index.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { EventReader } from '../event-reader.ts';
import { durableOf, type ServerProcess, submit, submitKeyed } from '../server-process.ts';
import { type Cluster, missing, startCluster } from './nodes.ts';

const CLIENTS = 4;

const counted = (last: number): string => Array.from({ length: last }, (_, index) => index + 1).join(' ');
const has = (type: DurableEvent['type']) => (reader: EventReader) =>
  reader.events.some((event) => event.type === type);
const turnsIn = ({ events }: EventReader): number =>
  events.filter(({ type }) => type === 'turn.ended').length;

describe.skipIf(missing !== null)(`nodes that come and go${missing ? ` (${missing})` : ''}`, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      PARLANCE_OFFLINE_DELAY: '2',
      PARLANCE_GRACE: '0',
      PARLANCE_LEASE: '2500',
      TOOL_USE_APPROVAL_MODE: 'full-auto',
    });
    const effect = join(cluster.folder, 'effect');
    writeFileSync(effect, '#!/bin/sh\necho "$1" >> effects.txt\nsleep 1\n');
    chmodSync(effect, 0o755);
  });
  afterAll(() => cluster?.stop());

  test('a rolling restart loses no message and no turn, and readers miss nothing', async () => {
    let nodes: ServerProcess[] = [...(await cluster.startThree())];
    let replaced = false;
    const node = (index: number): ServerProcess => {
      const chosen = nodes[index % nodes.length];
      if (!chosen) throw new Error('no node');
      return chosen;
    };

    /** Retries on another node, with the same key, until it is acknowledged. */
    async function say(session: string, text: string, first: number): Promise<void> {
      for (let index = first; ; index++) {
        const accepted = await submitKeyed(node(index), session, { text, key: text }).catch(() => false);
        if (accepted) return;
        await Bun.sleep(20);
      }
    }

    /** Continues on another node from its position, until this many turns have ended. */
    async function read(reader: EventReader, turns: number): Promise<void> {
      for (let index = turns; turnsIn(reader) < turns; index++) {
        try {
          await reader.follow(node(index));
          await reader.until((one) => turnsIn(one) >= turns);
        } catch {
          reader.cut();
          await Bun.sleep(20);
        }
      }
    }

    const talks = Array.from({ length: CLIENTS }, async (_, client) => {
      const session = `rolling-${client}`;
      const reader = new EventReader(session);
      const sent: string[] = [];
      while (!replaced || sent.length < 3) {
        const text = `count to ${60 + sent.length}`;
        sent.push(text);
        await say(session, text, client + sent.length);
        await read(reader, sent.length);
      }
      reader.cut();
      return { session, reader, sent };
    });
    for (const old of [...nodes]) {
      const next = await cluster.start();
      nodes = [...nodes.filter((one) => one !== old), next];
      expect(await old.terminate()).toBe(0);
    }
    replaced = true;
    for (const { session, reader, sent } of await Promise.all(talks)) {
      const stored = await durableOf(node(0), session);
      const inputs = stored.flatMap((event) =>
        event.type === 'input.accepted' ? [textOf(event.parts)] : [],
      );
      const texts = stored.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
      expect(inputs).toEqual(sent);
      expect(texts).toEqual(sent.map((_, index) => counted(60 + index)));
      expect(stored.map(({ type }) => type)).not.toContain('turn.failed');
      expect(reader.events).toEqual(stored);
      expect(reader.resets).toBe(0);
    }
  });

  test('a node that was paused for 8 seconds during a call repeats neither events nor effects', async () => {
    const [asleep, other] = await cluster.startThree();
    const session = 'asleep';
    const effects = join(cluster.folder, 'effects.txt');
    const reader = new EventReader(session);
    await submit(asleep, session, 'run ./effect once');
    await reader.follow(other);
    await reader.until(has('tool.started'));
    await until(() => existsSync(effects));
    process.kill(asleep.pid, 'SIGSTOP');
    const slept = Bun.sleep(8_000);
    await reader.until(has('turn.ended'));
    await submit(other, session, 'count to 20');
    await reader.until((one) => turnsIn(one) === 2);
    await slept;
    process.kill(asleep.pid, 'SIGCONT');
    const woken = new EventReader(session);
    await woken.follow(asleep);
    await submit(asleep, session, 'count to 30');
    await Promise.all([reader, woken].map((one) => one.until((read) => turnsIn(read) === 3)));
    const stored = await durableOf(other, session);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
    for (const { events } of [reader, woken]) expect(events).toEqual(stored);
    const outcomes = stored.flatMap((event) => (event.type === 'tool.ended' ? [event.outcome] : []));
    expect(outcomes).toEqual(['unknown']);
    expect(stored.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
    expect(readFileSync(effects, 'utf8')).toBe('once\n');
  });
});
