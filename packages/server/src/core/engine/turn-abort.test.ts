import { expect, test } from 'bun:test';
import type { DurableEvent, TurnId } from '@parlance/protocol';
import { TurnAbort } from './turn-abort.ts';

const TURN = 'turn-1' as TurnId;
const cancelled = [{ type: 'turn.cancelled', turn: TURN }] as unknown as DurableEvent[];

test('a stored cancellation aborts the turn for good', () => {
  const abort = new TurnAbort();
  const signal = abort.signal(TURN);
  abort.byEvents(cancelled);
  expect(signal.aborted).toBe(true);
  abort.resume();
  expect(abort.signal(TURN).aborted).toBe(true);
});

test('a cancellation that cannot be stored is undone: the turn continues with a new signal', () => {
  const abort = new TurnAbort();
  const signal = abort.signal(TURN);
  const undo = abort.byEvents(cancelled);
  expect(undo()).toBe(true);
  expect(signal.aborted).toBe(true);
  expect(abort.signal(TURN).aborted).toBe(false);
});

test('an abandoned action stops, and the turn continues only after `resume`', () => {
  const abort = new TurnAbort();
  abort.signal(TURN);
  abort.now();
  expect(abort.abandoned).toBe(true);
  expect(abort.signal(TURN).aborted).toBe(true);
  abort.resume();
  expect(abort.abandoned).toBe(false);
  expect(abort.signal(TURN).aborted).toBe(false);
});

test('each turn has its own signal', () => {
  const abort = new TurnAbort();
  abort.signal(TURN);
  abort.byEvents(cancelled);
  expect(abort.signal('turn-2' as TurnId).aborted).toBe(false);
});
