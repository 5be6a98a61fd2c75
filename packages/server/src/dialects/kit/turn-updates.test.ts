import { describe, expect, test } from 'bun:test';
import type { SessionEvent } from '@parlance/protocol';
import { IDLE, projection, type TurnUpdate, unanswered } from './turn-updates.ts';

let seq = 0;
const event = (type: string, fields: object = {}): SessionEvent =>
  ({ type, turn: 't', session: 's', id: type, at: 0, seq: ++seq, ...fields }) as unknown as SessionEvent;

const requested = (call: string) => event('call.requested', { call, tool: 'shell', input: {} });
const asked = (call: string) => event('approval.requested', { call, approval: `a-${call}` });
const answered = (call: string) =>
  event('approval.answered', { call, approval: `a-${call}`, answer: 'once' });
const ran = (call: string) => event('tool.started', { call });
const deferred = (call: string) => event('call.deferred', { call });
const ended = (call: string) => event('tool.ended', { call, outcome: 'ok', parts: [] });

type Blocked = Extract<TurnUpdate, { kind: 'blocked' }>;

function blocksOf(...events: SessionEvent[]): Blocked[] {
  let state = IDLE;
  return events.flatMap((one) => {
    const [next, frames] = projection.step(state, one);
    state = next;
    return frames.flatMap(({ body }) => (body.kind === 'blocked' ? [body] : []));
  });
}

const callsOf = ({ approvals, deferred: calls }: Blocked) =>
  [...approvals, ...calls].map(({ call }) => String(call));

describe('a turn was blocked', () => {
  test('before the answer to an approval, since the event that requested it', () => {
    const request = asked('c');
    const [block, ...more] = blocksOf(requested('c'), request, answered('c'), ran('c'), ended('c'));
    expect(block).toMatchObject({
      approvals: [{ call: 'c' }],
      since: { seq: 'seq' in request && request.seq },
    });
    expect(more).toEqual([]);
  });

  test('on all calls of one append, even if the first looked as if it were the only one', () => {
    const blocks = blocksOf(requested('c'), requested('d'), asked('c'), deferred('d'), ended('d'));
    expect(blocks.map(callsOf)).toEqual([['c', 'd']]);
  });

  test('not while another call runs, nor if a later event of the append starts one', () => {
    const calls = [requested('c'), requested('d')];
    expect(blocksOf(...calls, ran('d'), asked('c'), answered('c'))).toEqual([]);
    expect(blocksOf(...calls, asked('c'), ran('d'), answered('c'))).toEqual([]);
    expect(blocksOf(...calls, ran('d'), asked('c'), ended('d'), answered('c')).map(callsOf)).toEqual([['c']]);
  });

  test('not by a call that a rule denies in the same append', () => {
    expect(blocksOf(requested('c'), requested('d'), asked('c'), ended('d'))).toEqual([]);
  });

  test('not before the first event that was read', () => {
    const [state] = projection.step(IDLE, requested('c'));
    const [waiting] = projection.step(state, asked('c'));
    const [, frames] = projection.step({ ...waiting, changed: null }, answered('c'));
    expect(frames.map(({ body }) => body.kind)).toEqual(['replied']);
  });
});

test('calls that a request answers do not block it', () => {
  const [block] = blocksOf(requested('c'), requested('d'), deferred('c'), deferred('d'), ended('c'));
  if (!block) throw new Error('the turn was not blocked');
  expect(unanswered(block, new Set(['c', 'd']))).toBeNull();
  expect(unanswered(block, new Set(['c']))?.deferred.map(({ call }) => String(call))).toEqual(['d']);
});
