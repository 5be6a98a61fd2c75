/** A session as it is at this moment, for those who watch it. */
import type { ApprovalId, Ask, CallId, DurableEvent, JsonObject, TurnId } from '@parlance/protocol';
import { deferredCall, type SessionState, waitingCall } from '../domain/session-state.ts';
import type { EventSink } from '../ports/bus.ts';
import type { SessionRef } from '../ports/event-store.ts';
import type { LiveSession } from './live-session.ts';

export type PendingApproval = {
  readonly approval: ApprovalId;
  readonly turn: TurnId;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ask: Ask;
  readonly hash: string;
};

export type SessionSnapshot = {
  readonly ref: SessionRef;
  readonly seq: number;
  /** null: no such session yet */
  readonly created: SessionState['created'];
  readonly agent: SessionState['agent'];
  readonly turn: TurnId | null;
  /** the number of the event with which the turn began */
  readonly began: number | null;
  readonly finished: SessionState['finished'];
  readonly title: string;
  /** somebody chose the title */
  readonly renamed: boolean;
  /** how the first input begins; empty if there is none yet */
  readonly firstInput: string;
  /** where the session has its own */
  readonly model: string | null;
  readonly approvalMode: SessionState['approvalMode'];
  readonly archived: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly said: number;
  /** how many of them were said before the events of `recent` */
  readonly saidAtRest: number;
  readonly queued: number;
  /** what "always" has allowed */
  readonly grants: readonly string[];
  readonly approval: PendingApproval | null;
  /** when that approval was requested */
  readonly approvalRequestedAt: number | null;
  /** the call that a client which comes and goes carries out */
  readonly deferred: { readonly call: CallId; readonly tool: string; readonly input: JsonObject } | null;
  /** the block that is being streamed, as far as it has come */
  readonly open: {
    readonly kind: 'text' | 'reasoning';
    readonly turn: TurnId;
    readonly block: string;
    readonly text: string;
  } | null;
};

/** A session that can be looked at without waiting, so that no event falls between the look and the next step. */
export type ObservedSession = {
  snapshot(): SessionSnapshot;
  /** the events since the session was last at rest, the present one included */
  eventsSinceIdle(): readonly DurableEvent[];
};

export type Sink = EventSink<ObservedSession>;

export function snapshotOf({ state, ref, open, eventsSinceIdle, saidAtRest }: LiveSession): SessionSnapshot {
  return {
    ref,
    seq: state.seq,
    created: state.created,
    agent: state.agent,
    turn: state.turn?.id ?? null,
    began: state.turn?.began ?? null,
    finished: state.finished,
    title: state.title,
    renamed: state.renamed,
    firstInput: state.firstInput,
    model: state.model,
    approvalMode: state.approvalMode,
    archived: state.archived,
    labels: state.labels,
    said: state.messageCount,
    saidAtRest,
    queued: state.queue.length,
    grants: state.grants,
    approval: pendingApproval(state),
    approvalRequestedAt: requestedAt(state, eventsSinceIdle),
    deferred: deferredOf(state),
    open: open ? { kind: open.kind, turn: open.turn, block: open.block, text: String(open.text) } : null,
  };
}

function deferredOf(state: SessionState): SessionSnapshot['deferred'] {
  const deferred = deferredCall(state);
  return deferred ? { call: deferred.call, tool: deferred.tool, input: deferred.input } : null;
}

function pendingApproval(state: SessionState): PendingApproval | null {
  const waiting = waitingCall(state);
  if (!waiting || !state.turn) return null;
  const { approval, call, tool, input, ask, hash } = waiting;
  return { approval, turn: state.turn.id, call, tool, input, ask, hash };
}

function requestedAt(state: SessionState, eventsSinceIdle: readonly DurableEvent[]): number | null {
  const waiting = waitingCall(state);
  if (!waiting) return null;
  const requested = eventsSinceIdle.findLast(
    (event) => event.type === 'approval.requested' && event.approval === waiting.approval,
  );
  return requested?.at ?? null;
}
