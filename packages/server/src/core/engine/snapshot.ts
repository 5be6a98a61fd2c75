/** The current state of a session, for its subscribers. */
import type { BlockId, CallId, DurableEvent, JsonObject, TurnId, TurnOptions } from '@parlance/protocol';
import type { SessionRef } from '../ports/event-store.ts';
import {
  deferredCalls,
  isBlocked,
  isIdle,
  type OpenQuestion,
  type SessionState,
  type Turn,
  waitingCall,
  waitingCalls,
} from '../session/session-state.ts';
import type { EventSink } from './bus.ts';
import type { OpenArguments, OpenBlock, PartialArguments } from './open-output.ts';

export type PendingApproval = Readonly<
  Pick<DurableEvent<'approval.requested'>, 'approval' | 'turn' | 'call' | 'ask' | 'hash'> &
    Pick<DurableEvent<'call.requested'>, 'tool' | 'input'>
>;

export type DeferredCall = { readonly call: CallId; readonly tool: string; readonly input: JsonObject };

/**
 * What a session does after an append. `blocked`: the turn continues only when a user answers one of the approvals or
 * questions, or a client one of the calls.
 */
export type RunStatus =
  | { readonly kind: 'idle' | 'running' }
  | {
      readonly kind: 'blocked';
      readonly turn: TurnId;
      /** in order of request */
      readonly approvals: readonly PendingApproval[];
      readonly deferred: readonly DeferredCall[];
      readonly questions: readonly OpenQuestion[];
    };

/** The events of one append, or of several that another node has made, and the status after them. */
export type Commit = { readonly events: readonly DurableEvent[]; readonly status: RunStatus };

export type SessionSnapshot = {
  readonly ref: SessionRef;
  readonly seq: number;
  /** null if the session does not exist yet */
  readonly created: SessionState['created'];
  readonly agent: SessionState['agent'];
  readonly turn: TurnId | null;
  /** number of the event that started the turn */
  readonly began: number | null;
  /** options that the caller set for the turn; null without a turn */
  readonly terms: TurnOptions | null;
  readonly finished: SessionState['finished'];
  readonly title: string;
  /** whether a user chose the title */
  readonly renamed: boolean;
  /** beginning of the first input; empty if there is none */
  readonly firstInput: string;
  /** null for the server's default */
  readonly model: string | null;
  readonly approvalMode: SessionState['approvalMode'];
  readonly archived: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly messageCount: number;
  /** message count before the events of `eventsSinceIdle` */
  readonly messageCountAtIdle: number;
  readonly queued: number;
  /** standing grants */
  readonly grants: readonly string[];
  /** the oldest pending approval; dialects that show one at a time show this one */
  readonly approval: PendingApproval | null;
  /** all pending approvals, in order of request */
  readonly approvals: readonly PendingApproval[];
  /** when the oldest one was requested, or became the oldest after another was answered */
  readonly approvalRequestedAt: number | null;
  /** questions that wait for an answer, in order */
  readonly questions: readonly OpenQuestion[];
  /** calls that clients execute, however late, in order of request */
  readonly deferred: readonly DeferredCall[];
  /** the block being streamed, with its text so far */
  readonly open: {
    readonly kind: 'text' | 'reasoning';
    readonly turn: TurnId;
    readonly block: BlockId;
    readonly text: string;
  } | null;
  /** calls whose arguments are being streamed, with the text so far */
  readonly openArguments: readonly PartialArguments[];
};

/** Synchronous view of a session: read it and subscribe without missing an event. */
export type ObservedSession = {
  snapshot(): SessionSnapshot;
  /** events since the session was last idle, including the current one */
  eventsSinceIdle(): readonly DurableEvent[];
  /** the status after the last complete append, also while its events are delivered */
  status(): RunStatus;
};

export type Sink = EventSink<ObservedSession>;

type SnapshotSource = {
  readonly ref: SessionRef;
  readonly state: SessionState;
  readonly open: OpenBlock | null;
  readonly openArguments: OpenArguments;
  readonly messageCountAtIdle: number;
};

export function snapshotOf(source: SnapshotSource): SessionSnapshot {
  const { state, ref, open, openArguments, messageCountAtIdle } = source;
  const approvals = pendingApprovals(state);
  return {
    ref,
    seq: state.seq,
    created: state.created,
    agent: state.agent,
    turn: state.turn?.id ?? null,
    began: state.turn?.began ?? null,
    terms: state.turn?.terms ?? null,
    finished: state.finished,
    title: state.title,
    renamed: state.renamed,
    firstInput: state.firstInput,
    model: state.model,
    approvalMode: state.approvalMode,
    archived: state.archived,
    labels: state.labels,
    messageCount: state.messageCount,
    messageCountAtIdle,
    queued: state.queue.length,
    grants: state.grants,
    approval: approvals[0] ?? null,
    approvals,
    approvalRequestedAt: waitingCall(state)?.requestedAt ?? null,
    questions: state.turn?.questions ?? [],
    deferred: deferred(state),
    open: open ? { kind: open.kind, turn: open.turn, block: open.block, text: String(open.text) } : null,
    openArguments: openArguments.list(),
  };
}

export function runStatus(state: SessionState): RunStatus {
  const { turn } = state;
  if (turn && waits(turn))
    return {
      kind: 'blocked',
      turn: turn.id,
      approvals: pendingApprovals(state),
      deferred: deferred(state),
      questions: turn.questions,
    };
  return isIdle(state) ? IDLE : RUNNING;
}

/** A running call that has asked the user waits for the answer too. */
const waits = (turn: Turn): boolean =>
  isBlocked({
    ...turn,
    calls: turn.calls.map((open) =>
      open.phase === 'running' && turn.questions.some(({ call }) => call === open.call)
        ? { ...open, phase: 'asking' }
        : open,
    ),
  });

const IDLE: RunStatus = { kind: 'idle' };
const RUNNING: RunStatus = { kind: 'running' };

const pendingApprovals = (state: SessionState): PendingApproval[] =>
  waitingCalls(state).flatMap(({ approval, call, tool, input, ask, hash }) =>
    state.turn ? [{ approval, turn: state.turn.id, call, tool, input, ask, hash }] : [],
  );

const deferred = (state: SessionState): DeferredCall[] =>
  deferredCalls(state).map(({ call, tool, input }) => ({ call, tool, input }));
