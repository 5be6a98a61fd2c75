/** Folds inside a turn. */
import type { CallId, DurableEvent, EphemeralEvent, TurnId } from '@parlance/protocol';
import type {
  ApprovalState,
  ApprovalView,
  BlockView,
  CallState,
  CallView,
  Entry,
  Item,
  QuestionView,
  SessionView,
  TurnView,
} from './shapes.ts';

/** Changes one turn; returns the same view if the turn is missing or did not change. */
export function inTurn(view: SessionView, turn: TurnId, change: (turn: TurnView) => TurnView): SessionView {
  const { entries } = view;
  // Search from the end: events concern the last turn.
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index] as Entry;
    if (entry.kind !== 'turn' || entry.turn !== turn) continue;
    const changed = change(entry);
    return changed === entry ? view : { ...view, entries: entries.with(index, changed) };
  }
  return view;
}

export function currentTurn(view: SessionView): TurnView | null {
  const turn = view.entries.findLast((entry) => entry.kind === 'turn');
  return turn?.state.status === 'running' ? turn : null;
}

export const withItem = (turn: TurnView, item: Item): TurnView => ({
  ...turn,
  items: [...turn.items, item],
});

const isBlock = (item: Item | undefined): item is BlockView =>
  item?.kind === 'text' || item?.kind === 'reasoning';

/** The open block is at or near the end. */
const openIndex = ({ items, open }: TurnView): number =>
  open === null ? -1 : items.findLastIndex((item) => isBlock(item) && item.block === open);

/** Runs for every token. */
export function withDelta(turn: TurnView, delta: EphemeralEvent<'text.delta' | 'reasoning.delta'>): TurnView {
  const kind = delta.type === 'text.delta' ? 'text' : 'reasoning';
  const open = turn.open === delta.block ? turn.items[openIndex(turn)] : undefined;
  const before = isBlock(open) ? open.text : '';
  return withOpenBlock(turn, { kind, block: delta.block, text: before + delta.text }, delta.at);
}

/**
 * Opens the block with this text and discards any other open block: only one is streamed at a time. Late events do not
 * reopen a block that has ended, nor open one in a turn that is over.
 */
export function withOpenBlock(
  turn: TurnView,
  { kind, block, text }: Pick<BlockView, 'kind' | 'block' | 'text'>,
  at: number,
): TurnView {
  if (turn.state.status !== 'running') return turn;
  if (turn.open === block) {
    const index = openIndex(turn);
    const open = turn.items[index];
    if (!isBlock(open) || open.text === text) return turn;
    return { ...turn, items: turn.items.with(index, { ...open, text }) };
  }
  if (turn.items.some((item) => isBlock(item) && item.block === block)) return turn;
  const rest = withoutOpenBlock(turn);
  const state = 'open';
  const opened: BlockView = { kind, block, text, state, durationMs: null, step: turn.steps, at, seqs: [] };
  return { ...rest, items: [...rest.items, opened], open: block };
}

export function withoutOpenBlock(turn: TurnView): TurnView {
  const index = openIndex(turn);
  return index < 0 ? turn : { ...turn, items: turn.items.toSpliced(index, 1), open: null };
}

export function withEndedBlock(
  turn: TurnView,
  event: DurableEvent<'text.ended' | 'reasoning.ended'>,
): TurnView {
  const ended: BlockView = {
    kind: event.type === 'text.ended' ? 'text' : 'reasoning',
    block: event.block,
    text: event.text,
    state: event.interrupted ? 'interrupted' : 'ended',
    durationMs: event.type === 'reasoning.ended' ? event.durationMs : null,
    step: turn.steps,
    at: event.at,
    seqs: [event.seq],
  };
  return withItem(withoutOpenBlock(turn), ended);
}

/** Ignored if an earlier part is missing: the complete call follows with its event. */
export function withArguments(turn: TurnView, delta: EphemeralEvent<'call.arguments.delta'>): TurnView {
  if (turn.state.status !== 'running') return turn;
  const { call, tool, offset, text } = delta;
  const index = turn.writing.findIndex((known) => known.call === call);
  const before = turn.writing[index];
  if (offset !== (before?.text.length ?? 0)) return turn;
  if (!before) return { ...turn, writing: [...turn.writing, { call, tool, text }] };
  if (text === '') return turn;
  return { ...turn, writing: turn.writing.with(index, { ...before, text: before.text + text }) };
}

/** Replaces the calls that the model is writing. */
export const withWriting = (turn: TurnView, writing: TurnView['writing']): TurnView =>
  turn.writing.length === 0 && writing.length === 0 ? turn : { ...turn, writing };

/** The step is requested again: discards its output, except blocks that an interruption ended. */
export function withoutStep(turn: TurnView): TurnView {
  const isVoid = (item: Item) => isBlock(item) && item.step === turn.steps && item.state !== 'interrupted';
  return { ...turn, items: turn.items.filter((item) => !isVoid(item)), open: null, writing: [] };
}

// Folds for a tool call and its approval.

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
    ...(event.child && { child: event.child }),
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
  // The call of a sub-agent goes on.
  const next: CallState = event.child ? { phase: 'running', progress: null } : { phase: 'allowed' };
  return changed(call, event, { state: next, approval: settled(call, event, state) });
}

const settled = ({ approval }: CallView, event: DurableEvent, state: ApprovalState): ApprovalView | null =>
  approval && { ...approval, state, seqs: [...approval.seqs, event.seq] };

export const started = (call: CallView, event: DurableEvent<'tool.started'>): CallView =>
  changed(event.child ? { ...call, child: event.child } : call, event, {
    state: { phase: 'running', progress: null },
  });

export const deferred = (call: CallView, event: DurableEvent<'call.deferred'>): CallView =>
  changed(call, event, { state: { phase: 'deferred' } });

/** It runs, in a sub-agent. */
export const delegated = (call: CallView, event: DurableEvent<'call.delegated'>): CallView =>
  changed(call, event, { state: call.state });

export function ended(call: CallView, event: DurableEvent<'tool.ended'>): CallView {
  const { outcome, interrupted, parts, data, durationMs, untrusted, said, final, child, app } = event;
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
    ...(child && { child }),
    ...(app && { app }),
  };
  if (call.approval?.state.status !== 'pending') return changed(call, event, { state });
  return changed(call, event, { state, approval: settled(call, event, { status: 'lapsed' }) });
}

export function progressed(call: CallView, live: EphemeralEvent<'call.progress'>): CallView {
  if (call.state.phase !== 'running') return call;
  const { execution, status, progress, message, spent } = live;
  return { ...call, state: { phase: 'running', progress: { execution, status, progress, message, spent } } };
}

// Questions

const withQuestions = (turn: TurnView, change: (question: QuestionView) => QuestionView): TurnView => {
  const items = turn.items.map((item) => (item.kind === 'question' ? change(item) : item));
  return items.every((item, at) => item === turn.items[at]) ? turn : { ...turn, items };
};

export const withQuestion = (
  turn: TurnView,
  event: DurableEvent<'question.repeated' | 'question.answered'>,
): TurnView =>
  withQuestions(turn, (asked) => {
    if (asked.question !== event.question) return asked;
    const seqs = [...asked.seqs, event.seq];
    if (event.type === 'question.repeated') return { ...asked, problem: event.problem, seqs };
    const { outcome: status, answers, by, dialect, at } = event;
    const state = { status, ...(answers === undefined ? {} : { answers }), by, dialect, at };
    return { ...asked, problem: null, state, seqs };
  });

/** The questions of the call, or all, that nobody has answered. */
export const withLapsed = (turn: TurnView, call?: CallId): TurnView =>
  withQuestions(turn, (asked) =>
    asked.state.status === 'pending' && (call === undefined || asked.call === call)
      ? { ...asked, state: { status: 'lapsed' } }
      : asked,
  );
