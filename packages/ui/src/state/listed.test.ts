import { expect, test } from 'bun:test';
import type { Session } from '@parlance/sdk';
import { byChange, listedAfter } from './listed.ts';

const session = {
  id: 's',
  title: '',
  status: 'idle',
  head: 3,
  archived: false,
  said: 0,
  agent: 'coder',
  updatedAt: '2026-01-01T00:00:00.000Z',
} as unknown as Session;
const after = (from: Session, type: string, rest: object = {}) =>
  listedAfter(from, {
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
  expect(said).toMatchObject({ title: 'Hello there', archived: false, said: 1, head: 4 });
  expect(after({ ...session, title: 'Mine' }, 'input.accepted', { parts }).title).toBe('Mine');
});

test('a history that was taken over names an unnamed session, and its messages count', () => {
  const items = [
    { type: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hi.' },
  ];
  expect(after(session, 'history.imported', { items })).toMatchObject({ title: 'Hello', said: 2 });
});

test('an event that is already in the list changes nothing', () => {
  expect(listedAfter(session, { type: 'session.renamed', seq: 3, title: 'late' } as never)).toBe(session);
});

test('sorts by the latest change', () => {
  const later = after(session, 'session.renamed', { title: 'x' });
  expect([session, later].sort(byChange)).toEqual([later, session]);
});
