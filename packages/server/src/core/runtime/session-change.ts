/** Events to be stored, with the state after each and the session record to store with them. */
import { type DurableEvent, type DurableEventBody, parseDurableEvent } from '@parlance/protocol';
import { evolve } from '../domain/evolve.ts';
import { checkpointOf, recordOf } from '../domain/session-record.ts';
import type { SessionState, Turn } from '../domain/session-state.ts';
import type { SessionRecord, SessionRef } from '../ports/event-store.ts';

export type Change = {
  readonly before: SessionState;
  readonly events: DurableEvent[];
  readonly states: readonly SessionState[];
  readonly record: SessionRecord;
};

type ChangeSources = {
  readonly now: () => number;
  readonly newId: () => string;
  /** kept if the session is not idle */
  readonly checkpoint: SessionRecord['checkpoint'];
};

export function changeOf(
  { ref, state: before }: { readonly ref: SessionRef; readonly state: SessionState },
  bodies: readonly DurableEventBody[],
  { now, newId, checkpoint }: ChangeSources,
): Change {
  // The clocks of nodes differ.
  const clock = () => Math.max(now(), before.updatedAt);
  let at = clock();
  const session = ref.id;
  const events = bodies.map((body, index): DurableEvent => {
    // A call starts after its request, although one append stores both.
    if (body.type === 'tool.started' && index > 0) at = clock();
    return { ...body, session, id: newId(), at, seq: before.seq + index + 1 };
  });
  // Validate first: an event that cannot be parsed would make the whole session unreadable.
  for (const event of events) parseDurableEvent(event);
  const states: SessionState[] = [];
  for (const event of events) states.push(evolve(states.at(-1) ?? before, event));
  const next = states.at(-1) ?? before;
  return { before, events, states, record: recordOf(ref, next, checkpointOf(next) ?? checkpoint) };
}

/** Recorded before an interrupted turn continues: output streamed since its last step is discarded. */
export type ResumeEvent = DurableEventBody<'turn.resumed' | 'step.restarted'>;

/** For a turn that was stopped because the store is unavailable. */
export function restartOf({ id, calls }: Turn, shown: boolean): ResumeEvent {
  if (calls.length > 0) return { type: 'turn.resumed', turn: id };
  const fault = {
    code: 'storage_unavailable',
    message: 'Storage is temporarily unavailable.',
  } as const;
  return {
    type: 'step.restarted',
    turn: id,
    attempt: 1,
    delayMs: 0,
    fault,
    ...(shown ? { shown: true } : {}),
  };
}
