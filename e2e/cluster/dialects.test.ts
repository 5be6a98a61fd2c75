/** Clients of every dialect on every node, in one session. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyFrame } from '../../packages/server/src/testing/client.ts';
import { DRIVERS, type Driver } from '../drivers.ts';
import { EventReader } from '../event-reader.ts';
import { durableOf, followed, login } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

const NAMES = Object.keys(DRIVERS);
const LAST = 60;
const COUNTED = Array.from({ length: LAST }, (_, index) => index + 1).join(' ');
/** Frames that end a turn. */
const ENDS = ['agent_finished', 'agent_message', 'agent_response', 'message_complete'];

type Text = { readonly chunk?: string; readonly role?: string; readonly content?: { text: string }[] };

/** The text in a frame with a piece of a block; null for other frames. */
function pieceIn({ type, payload }: AnyFrame): string | null {
  const { chunk, role, content } = (payload ?? {}) as Text;
  if (type === 'message_chunk') return chunk ?? '';
  return type === 'response_item' && role === 'assistant' ? (content?.[0]?.text ?? '') : null;
}

/** The frames until the last turn ended. Nodes may split the text differently. */
function shown(frames: readonly AnyFrame[]): { text: string; others: AnyFrame[] } {
  const complete = frames.slice(0, frames.findLastIndex(({ type }) => ENDS.includes(type)) + 1);
  return {
    text: complete.map((frame) => pieceIn(frame) ?? '').join(''),
    others: complete.filter((frame) => pieceIn(frame) === null),
  };
}

describe.skipIf(missing !== null)(`every dialect on three nodes${missing ? ` (${missing})` : ''}`, () => {
  let cluster: Cluster;
  let nodes: ThreeNodes;
  let token = '';
  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, PARLANCE_OFFLINE_DELAY: '2' });
    nodes = await cluster.startThree();
    token = await login(nodes[0], 'dev', 'dev-password');
  });
  afterAll(() => cluster?.stop());

  const bearer = () => ({ authorization: `Bearer ${token}` });
  const open = (dialect: string, session: string, node: 0 | 1 | 2): Promise<Driver> => {
    const driver = DRIVERS[dialect];
    if (!driver) throw new Error(`no driver for ${dialect}`);
    return driver(nodes[node], session, token);
  };
  const openAll = (session: string): Promise<Driver[][]> =>
    Promise.all(
      NAMES.map((name) => Promise.all(([0, 1, 2] as const).map((node) => open(name, session, node)))),
    );

  /** A session that every dialect may attach to. */
  async function begun(session: string): Promise<void> {
    const first = await open('agentloop', session, 0);
    first.say('Hello');
    await first.answer();
    first.client.close();
    const isOver = (events: readonly { readonly type: string }[]) =>
      events.some(({ type }) => type === 'turn.ended');
    await followed({ ...nodes[0], headers: bearer() }, session, isOver);
  }

  for (const speaker of NAMES)
    test(`a turn that ${speaker} starts is streamed on all nodes, in order and exactly once`, async () => {
      const session = `live-${speaker}`;
      await begun(session);
      const all = await openAll(session);
      // A socket is open before it is attached: one that has received an answer is.
      const attaching = await open('agentloop', session, 0);
      let attached = false;
      const answered = Promise.all(all.flat().map((driver) => driver.answer())).then(() => {
        attached = true;
      });
      while (!attached) {
        attaching.say('Hello');
        await attaching.answer();
      }
      await answered;
      attaching.say('count to 3');
      const counted = async (driver: Driver): Promise<void> => {
        while ((await driver.answer()) !== '1 2 3');
      };
      await Promise.all([attaching, ...all.flat()].map(counted));
      attaching.client.close();
      const readers = nodes.map(() => new EventReader(session, undefined, bearer()));
      await Promise.all(readers.map((reader, index) => reader.follow(nodes[index] ?? nodes[0])));
      const before = all.map((same) => same.map(({ client }) => client.frames.length));
      for (const node of [1, 2] as const) {
        const spoken = await open(speaker, session, node);
        spoken.say(`count to ${LAST}`);
        const answers = await Promise.all([spoken, ...all.flat()].map((driver) => driver.answer()));
        expect(answers).toEqual(answers.map(() => COUNTED));
        spoken.client.close();
      }
      for (const [dialect, same] of all.entries()) {
        const [first, ...others] = same.map(({ client }, node) =>
          shown(client.frames.slice(before[dialect]?.[node])),
        );
        for (const other of others) expect(other).toEqual(first ?? { text: '', others: [] });
      }
      const stored = await durableOf({ ...nodes[2], headers: bearer() }, session);
      for (const reader of readers) {
        await reader.until(({ events }) => events.length === stored.length);
        expect(reader.events).toEqual(stored);
        expect(reader.latest).toBe(COUNTED);
      }
      for (const { client } of all.flat()) client.close();
    });

  test('a client that joins during a block on another node receives all of it', async () => {
    const session = 'joined';
    await begun(session);
    const first = await open('agentloop', session, 0);
    first.say('count to 1000');
    await first.client.next((frame) => pieceIn(frame)?.includes('20') ?? false);
    const late = await Promise.all([open('agentloop', session, 1), open('conversations', session, 2)]);
    const chunks = late[1].client.until('message_complete');
    const [whole, joined] = await Promise.all([first.answer(), late[0].answer()]);
    expect(whole).toEndWith(' 999 1000');
    expect(joined).toBe(Array.from({ length: 1_000 }, (_, index) => index + 1).join(' '));
    expect((await chunks).map((frame) => pieceIn(frame) ?? '').join('')).toBe(joined);
  });

  for (const answerer of NAMES)
    test(`an approval requested on one node is answered by ${answerer} on another, once`, async () => {
      const session = `approved-${answerer}`;
      await begun(session);
      const asker = await open('agentloop', session, 0);
      asker.say(`run touch ${session}.txt`);
      await asker.asked();
      const [here, there] = [await open(answerer, session, 1), await open(answerer, session, 2)];
      await Promise.all([here.asked(), there.asked()]);
      here.approve();
      await Promise.all([asker, here, there].map((driver) => driver.answer()));
      expect(existsSync(join(cluster.folder, `${session}.txt`))).toBe(true);
      if (there.late) {
        there.approve();
        await there.client.next(there.late);
      }
      const stored = await durableOf({ ...nodes[0], headers: bearer() }, session);
      expect(stored.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
    });
});
