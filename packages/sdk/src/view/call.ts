/** Folds for a tool call and its approval. */
import type { CallId, DurableEvent, EphemeralEvent } from '@parlance/protocol';
import type { ApprovalState, ApprovalView, CallState, CallView, TurnView } from './shapes.ts';

export function inCall(turn: TurnView, call: CallId, change: (call: CallView) => CallView): TurnView {
  const index = turn.items.findLastIndex((item) => item.kind === 'call' && item.call === call);
  const found = turn.items[index];
  if (found?.kind !== 'call') return turn;
  const next = change(found);
  return next === found ? turn : { ...turn, items: turn.items.with(index, next) };
}

export const callOf = (turn: TurnView, call: CallId): CallView | null =>
  turn.items.findLast((item): item is CallView => item.kind === 'call' && item.call === call) ?? null;

export const requestedCall = ({
  call,
  tool,
  input,
  malformed,
  at,
  seq,
}: DurableEvent<'call.requested'>): CallView => ({
  kind: 'call',
  call,
  tool,
  input,
  ...(malformed === undefined ? {} : { malformed }),
  approval: null,
  state: { phase: 'requested' },
  at,
  seqs: [seq],
});

type CallChange = { readonly state: CallState; readonly approval?: ApprovalView | null };

const changed = (call: CallView, event: DurableEvent, change: CallChange): CallView => ({
  ...call,
  ...change,
  seqs: [...call.seqs, event.seq],
});

export function approvalRequested(call: CallView, event: DurableEvent<'approval.requested'>): CallView {
  const approval: ApprovalView = {
    approval: event.approval,
    turn: event.turn,
    call: event.call,
    tool: call.tool,
    input: call.input,
    ask: event.ask,
    hash: event.hash,
    explanations: [],
    state: { status: 'pending' },
    at: event.at,
    seqs: [event.seq],
  };
  return changed(call, event, { state: { phase: 'waiting' }, approval });
}

/** The event names only the approval, not the call. */
export function explained(turn: TurnView, event: DurableEvent<'approval.explained'>): TurnView {
  const asked = turn.items.findLast(
    (item): item is CallView => item.kind === 'call' && item.approval?.approval === event.approval,
  );
  if (!asked?.approval) return turn;
  const approval = {
    ...asked.approval,
    explanations: [...asked.approval.explanations, event.text],
    seqs: [...asked.approval.seqs, event.seq],
  };
  return inCall(turn, asked.call, (call) => changed(call, event, { state: call.state, approval }));
}

export function answered(call: CallView, event: DurableEvent<'approval.answered'>): CallView {
  const { answer, by, dialect, at, reason, said, grant } = event;
  const state: ApprovalState = {
    status: 'answered',
    answer,
    by,
    dialect,
    at,
    ...(reason === undefined ? {} : { reason }),
    ...(said === undefined ? {} : { said }),
    ...(grant === undefined ? {} : { grant }),
  };
  return changed(call, event, { state: { phase: 'allowed' }, approval: settled(call, event, state) });
}

const settled = ({ approval }: CallView, event: DurableEvent, state: ApprovalState): ApprovalView | null =>
  approval && { ...approval, state, seqs: [...approval.seqs, event.seq] };

export const started = (call: CallView, event: DurableEvent<'tool.started'>): CallView =>
  changed(call, event, { state: { phase: 'running', progress: null } });

export const deferred = (call: CallView, event: DurableEvent<'call.deferred'>): CallView =>
  changed(call, event, { state: { phase: 'deferred' } });

export function ended(call: CallView, event: DurableEvent<'tool.ended'>): CallView {
  const { outcome, interrupted, parts, data, durationMs, untrusted, said, final } = event;
  const state: CallState = {
    phase: 'ended',
    outcome,
    ...(interrupted && { interrupted }),
    parts,
    ...(data === undefined ? {} : { data }),
    durationMs,
    untrusted: untrusted === true,
    ...(said === undefined ? {} : { said }),
    final: final === true,
  };
  if (call.approval?.state.status !== 'pending') return changed(call, event, { state });
  return changed(call, event, { state, approval: settled(call, event, { status: 'lapsed' }) });
}

export function progressed(call: CallView, live: EphemeralEvent<'call.progress'>): CallView {
  if (call.state.phase !== 'running') return call;
  const { execution, status, progress, message } = live;
  return { ...call, state: { phase: 'running', progress: { execution, status, progress, message } } };
}
