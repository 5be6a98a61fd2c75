/** Changes of a call and of its approval. */
import type { CallId, DurableEvent, EphemeralEvent } from '@parlance/protocol';
import type { ApprovalState, ApprovalView, CallState, CallView, TurnView } from './shapes.ts';

export function inCall(turn: TurnView, call: CallId, change: (call: CallView) => CallView): TurnView {
  const index = turn.items.findLastIndex((item) => item.kind === 'call' && item.call === call);
  const found = turn.items[index];
  if (found?.kind !== 'call') return turn;
  const changed = change(found);
  return changed === found ? turn : { ...turn, items: turn.items.with(index, changed) };
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

const moved = (call: CallView, fact: DurableEvent, state: CallState, approval = call.approval): CallView => ({
  ...call,
  state,
  approval,
  seqs: [...call.seqs, fact.seq],
});

export function awaited(call: CallView, fact: DurableEvent<'approval.requested'>): CallView {
  const approval: ApprovalView = {
    approval: fact.approval,
    turn: fact.turn,
    call: fact.call,
    tool: call.tool,
    input: call.input,
    ask: fact.ask,
    hash: fact.hash,
    explanations: [],
    state: { status: 'pending' },
    at: fact.at,
    seqs: [fact.seq],
  };
  return moved(call, fact, { phase: 'waiting' }, approval);
}

/** The event knows the approval alone. */
export function explained(turn: TurnView, fact: DurableEvent<'approval.explained'>): TurnView {
  const asked = turn.items.findLast(
    (item): item is CallView => item.kind === 'call' && item.approval?.approval === fact.approval,
  );
  if (!asked?.approval) return turn;
  const approval = {
    ...asked.approval,
    explanations: [...asked.approval.explanations, fact.text],
    seqs: [...asked.approval.seqs, fact.seq],
  };
  return inCall(turn, asked.call, (call) => moved(call, fact, call.state, approval));
}

export function answered(call: CallView, fact: DurableEvent<'approval.answered'>): CallView {
  const { answer, by, dialect, at, reason, said, grant } = fact;
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
  return moved(call, fact, { phase: 'allowed' }, settled(call, fact, state));
}

const settled = ({ approval }: CallView, fact: DurableEvent, state: ApprovalState): ApprovalView | null =>
  approval && { ...approval, state, seqs: [...approval.seqs, fact.seq] };

export const started = (call: CallView, fact: DurableEvent<'tool.started'>): CallView =>
  moved(call, fact, { phase: 'running', progress: null });

export const deferred = (call: CallView, fact: DurableEvent<'call.deferred'>): CallView =>
  moved(call, fact, { phase: 'deferred' });

export function ended(call: CallView, fact: DurableEvent<'tool.ended'>): CallView {
  const { outcome, parts, data, durationMs, untrusted, said, final } = fact;
  const state: CallState = {
    phase: 'ended',
    outcome,
    parts,
    ...(data === undefined ? {} : { data }),
    durationMs,
    untrusted: untrusted === true,
    ...(said === undefined ? {} : { said }),
    final: final === true,
  };
  const unanswered = call.approval?.state.status === 'pending';
  return moved(call, fact, state, unanswered ? settled(call, fact, { status: 'lapsed' }) : call.approval);
}

export function progressed(call: CallView, live: EphemeralEvent<'call.progress'>): CallView {
  if (call.state.phase !== 'running') return call;
  const { execution, status, progress, message } = live;
  return { ...call, state: { phase: 'running', progress: { execution, status, progress, message } } };
}
