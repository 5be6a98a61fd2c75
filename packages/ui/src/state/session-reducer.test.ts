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
import { byChange, reduceSession } from './session-reducer.ts';

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
