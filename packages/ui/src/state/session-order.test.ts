import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type DurableEvent, isDurable, type PrincipalId, type SessionId } from '@parlance/protocol';
import type { Session } from '@parlance/sdk';
import { recordOf } from '../../../server/src/core/session/checkpoint.ts';
import { evolve } from '../../../server/src/core/session/evolve.ts';
import { initialState } from '../../../server/src/core/session/session-state.ts';
import { sessionView } from '../../../server/src/dialects/native/views.ts';
import { readTranscript, transcriptPath } from '../../../server/src/testing/transcripts.ts';
import { byChange, dayGroups, keyOf, reduceSession, SessionOrder, stateText } from './session-order.ts';

/** A session that changed `minute` minutes after the start. */
const received = (id: string, minute: number, title = id) =>
  ({
    id,
    owner: 'local',
    title,
    updatedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  }) as unknown as Session;

const orderOf = (...sessions: Session[]): SessionOrder => {
  const order = new SessionOrder();
  order.replace(sessions, {});
  return order;
};
const ids = ({ all }: SessionOrder) => all.map(({ id }) => id as string);

test('sessions have the last change first', () => {
  const order = orderOf(received('a', 1), received('b', 3));
  order.put(received('c', 2));
  expect(ids(order)).toEqual(['b', 'c', 'a']);
});

test('a session that changes moves, and is listed once', () => {
  const order = orderOf(received('a', 3), received('b', 2), received('c', 1));
  order.put(received('c', 4, 'renamed'));
  expect(ids(order)).toEqual(['c', 'a', 'b']);
  expect(order.get('local c')?.title).toBe('renamed');
});

test('sessions of several owners may have the same id', () => {
  const order = orderOf(received('a', 2), { ...received('a', 1), owner: 'ada' });
  order.delete(keyOf({ id: 'a' as Session['id'], owner: 'local' }));
  expect(order.all.map(({ owner }) => owner)).toEqual(['ada']);
});

test('of sessions that changed at the same time, the right one goes', () => {
  const order = orderOf(received('a', 1), received('b', 1), received('c', 1));
  order.delete('local b');
  order.delete('local unknown');
  expect(ids(order)).toEqual(['a', 'c']);
});

test('a page does not replace sessions that are listed', () => {
  const order = orderOf(received('a', 3), received('b', 2, 'newer'));
  order.addOlder([received('b', 2, 'older'), received('c', 1)]);
  expect(order.all.map(({ title }) => title)).toEqual(['a', 'newer', 'c']);
});

test('a session that was added on its own stays behind a page with newer ones', () => {
  const order = orderOf(received('a', 9));
  order.put(received('unarchived', 1));
  order.addOlder([received('b', 8), received('c', 7)]);
  expect(ids(order)).toEqual(['a', 'b', 'c', 'unarchived']);
});

test('a part that was read again replaces what was there, and nothing else', () => {
  const known = [9, 8, 7, 6, 5, 4].map((minute) => received(`s${minute}`, minute));
  const at = (minute: number) => received('boundary', minute);
  const replaced = (read: readonly Session[], span: { after?: Session; until?: Session }) => {
    const order = orderOf(...known);
    order.replace(read, span);
    return ids(order);
  };
  expect(replaced([received('s9', 9), received('s7', 7)], { until: at(7) })).toEqual([
    's9',
    's7',
    's6',
    's5',
    's4',
  ]);
  expect(replaced([received('s5', 5)], { after: at(7), until: at(5) })).toEqual([
    's9',
    's8',
    's7',
    's5',
    's4',
  ]);
  expect(replaced([], { after: at(7) })).toEqual(['s9', 's8', 's7']);
  // It has changed since the newer part was read.
  expect(replaced([received('s8', 3)], { after: at(5) })).toEqual(['s9', 's7', 's6', 's5', 's8']);
});

test('each change makes a new array of the same sessions', () => {
  const order = orderOf(received('a', 3), received('b', 2), received('c', 1));
  const before = order.all;
  order.put(received('b', 4));
  order.addOlder([received('d', 0)]);
  expect(before.map(({ id }) => id as string)).toEqual(['a', 'b', 'c']);
  expect(order.all[1]).toBe(before[0] as never);
  expect(order.all[2]).toBe(before[2] as never);
});

test('in a list of 100,000, changes and pages examine few of the others', () => {
  const count = 100_000;
  const FEW = 200;
  const order = new SessionOrder();
  order.replace(
    Array.from({ length: count }, (_, index) => received(`s${index}`, count + 1_000 - index)),
    {},
  );
  let reads = 0;
  const counted = (value: string) => () => {
    reads++;
    return value;
  };
  for (const listed of order.all) {
    const { updatedAt } = listed;
    Object.defineProperty(listed, 'updatedAt', { get: counted(updatedAt) });
  }
  const readsOf = (change: () => void): number => {
    reads = 0;
    change();
    return reads;
  };
  const page = Array.from({ length: 200 }, (_, index) => received(`older${index}`, 900 - index));
  expect(readsOf(() => order.addOlder(page))).toBeLessThan(FEW);
  expect(readsOf(() => order.put(received('s50000', count + 2_000)))).toBeLessThan(FEW);
  expect(readsOf(() => order.delete('local s99999'))).toBeLessThan(FEW);
  expect([order.all.length, order.all[0]?.id, order.all.at(-1)?.id]).toEqual([
    count + 199,
    's50000' as never,
    'older199' as never,
  ]);
});

const session = {
  id: 's',
  title: '',
  status: 'idle',
  head: 3,
  archived: false,
  messageCount: 0,
  agent: 'coder',
  updatedAt: '2026-01-01T00:00:00.000Z',
} as unknown as Session;
const after = (from: Session, type: string, rest: object = {}) =>
  reduceSession(from, {
    type,
    seq: from.head + 1,
    at: 1_800_000_000_000,
    session: 's',
    owner: 'local',
    ...rest,
  } as never);

test('the status of a session follows its events', () => {
  const states = (
    [
      ['turn.started', 'running'],
      ['approval.requested', 'waiting'],
      ['approval.answered', 'running'],
      ['call.deferred', 'waiting'],
      ['tool.ended', 'running'],
      ['turn.ended', 'idle'],
      ['turn.failed', 'failed'],
      ['turn.cancelled', 'idle'],
    ] as const
  ).map(([type, status]) => [after(session, type).status, status]);
  for (const [got, expected] of states) expect(got).toBe(expected as never);
});

test('a session waits for a person, or for the work of others', () => {
  const waiting = after(session, 'approval.requested');
  expect(stateText(waiting)).toBe('Waiting for input');
  expect(stateText(after(session, 'call.deferred'))).toBe('Sub-agents or clients work');
  expect(
    after({ ...session, status: 'waiting', waitsFor: 'work' }, 'session.renamed', { title: 'x' }),
  ).toMatchObject({
    status: 'waiting',
    waitsFor: 'work',
  });
  expect(after(waiting, 'approval.answered').waitsFor).toBeUndefined();
});

test('a sub-agent waits, or is done, when its parent knows', () => {
  const running = { ...session, status: 'running' as const };
  expect(after(running, 'parent.informed', { turns: [], waits: 'approval' }).status).toBe('waiting');
  expect(after(running, 'parent.informed', { turns: ['turn'], waits: null }).status).toBe('idle');
  expect(after(running, 'parent.informed', { turns: [], waits: null }).status).toBe('running');
  const failed = { ...session, status: 'failed' as const };
  expect(after(failed, 'parent.informed', { turns: ['turn'], waits: null }).status).toBe('failed');
});

test('an input names an unnamed session and unarchives it', () => {
  const parts = [{ type: 'text', text: '  Hello\n there ' }];
  const said = after({ ...session, archived: true }, 'input.accepted', { parts });
  expect(said).toMatchObject({ title: 'Hello there', archived: false, messageCount: 1, head: 4 });
  expect(after({ ...session, title: 'Mine' }, 'input.accepted', { parts }).title).toBe('Mine');
});

test('a history that was taken over names an unnamed session, and its messages count', () => {
  const items = [
    { type: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hi.' },
  ];
  expect(after(session, 'history.imported', { items })).toMatchObject({ title: 'Hello', messageCount: 2 });
});

test('an event that is already in the list changes nothing', () => {
  expect(reduceSession(session, { type: 'session.renamed', seq: 3, title: 'late' } as never)).toBe(session);
});

test('sorts by the latest change', () => {
  const later = after(session, 'session.renamed', { title: 'x' });
  expect([session, later].sort(byChange)).toEqual([later, session]);
});

/** The session as the server lists it after these events. */
function listedByServer(events: readonly DurableEvent[]): Session {
  const state = events.reduce(evolve, initialState({ id: 'coder', name: 'Coder' }));
  const ref = { owner: 'local' as PrincipalId, id: 's' as SessionId };
  return sessionView(recordOf(ref, state, null), {});
}

const numbered = (bodies: readonly object[]): DurableEvent[] =>
  bodies.map(
    (body, index) =>
      ({ seq: index + 1, at: 1_800_000_000_000, id: `e${index}`, session: 's', ...body }) as never,
  );

const LONG =
  '# Fix the **build** of `parlance`, please, and then run all of the tests of the console and tell me';
const SESSIONS: readonly (readonly [string, readonly DurableEvent[]])[] = [
  [
    'a long first message with Markdown, then a pin, tags and a message without parts',
    numbered([
      { type: 'session.created', dialect: 'native', named: true, domain: 'd', agent: { id: 'a', name: 'A' } },
      { type: 'input.accepted', input: 'i', parts: [{ type: 'text', text: LONG }], dialect: 'native' },
      { type: 'session.pinned', pinned: true, by: 'u' },
      { type: 'session.tagged', tags: ['work'], by: 'u' },
      { type: 'input.accepted', input: 'j', parts: [], dialect: 'native' },
    ]),
  ],
  ...readdirSync(dirname(transcriptPath('x')))
    .map((file) => file.replace('.jsonl', ''))
    .map((name) => [name, readTranscript(name).filter(isDurable)] as const),
];

test.each(SESSIONS)('a list that follows the events shows what the server lists: %s', (_name, events) => {
  const [first] = events;
  if (!first) throw new Error('there are no events');
  const followed = events
    .slice(1)
    .reduce((listed, event) => reduceSession(listed, { ...event, owner: 'local' }), listedByServer([first]));
  const { status: _status, ...expected } = listedByServer(events);
  expect(followed).toMatchObject(expected);
});

const NOW = new Date(2026, 5, 15, 9, 30);
const at = (day: number, hour: number) => ({ updatedAt: new Date(2026, 5, day, hour).toISOString() });

test('groups sessions by the day of the reader', () => {
  const sessions = [
    at(15, 9),
    at(15, 0),
    at(14, 23),
    at(14, 0),
    at(13, 23),
    at(8, 12),
    at(1, 12),
    at(-60, 1),
  ];
  expect(dayGroups(sessions, NOW).map(({ name, sessions }) => [name, sessions.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 2],
    ['Previous 7 days', 2],
    ['Previous 30 days', 1],
    ['Older', 1],
  ]);
});

test('there are no empty groups', () => {
  expect(dayGroups([], NOW)).toEqual([]);
  expect(dayGroups([at(1, 12)], NOW).map(({ name }) => name)).toEqual(['Previous 30 days']);
});
