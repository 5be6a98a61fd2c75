/** The calls of a turn without an outcome, and what they wait for. */
import type { SessionEvent } from '@parlance/protocol';
import { awaitsAnswer } from '../../core/index.ts';
import type { Interrupt } from './events.ts';
import { interruptOf } from './interrupts.ts';

export type OpenCall = { readonly call: string } & (
  | { readonly phase: 'requested' | 'running' | 'deferred' }
  | { readonly phase: 'waiting'; readonly interrupt: Interrupt }
);

export const NO_CALLS: readonly OpenCall[] = [];

/** The open calls after the event. */
export function trackCalls(calls: readonly OpenCall[], event: SessionEvent): readonly OpenCall[] {
  switch (event.type) {
    case 'call.requested':
      return [...calls, { call: event.call, phase: 'requested' }];
    case 'approval.requested':
      return changed(calls, { call: event.call, phase: 'waiting', interrupt: interruptOf(event) });
    case 'approval.answered':
    case 'tool.started':
      return changed(calls, { call: event.call, phase: 'running' });
    case 'call.deferred':
      return changed(calls, { call: event.call, phase: 'deferred' });
    case 'tool.ended':
      return calls.filter(({ call }) => call !== event.call);
    default:
      return calls;
  }
}

const changed = (calls: readonly OpenCall[], next: OpenCall): readonly OpenCall[] =>
  calls.map((open) => (open.call === next.call ? next : open));

/** What a turn waits for, if it continues only with an answer of a user or a client. */
export type Waits = { readonly interrupts: readonly Interrupt[]; readonly pending: readonly string[] };

/** Null if the turn continues by itself. */
export function waitsFor(calls: readonly OpenCall[]): Waits | null {
  if (!awaitsAnswer(calls)) return null;
  const interrupts = calls.flatMap((open) => (open.phase === 'waiting' ? [open.interrupt] : []));
  const pending = calls.filter(({ phase }) => phase === 'deferred').map(({ call }) => call);
  return { interrupts, pending };
}
