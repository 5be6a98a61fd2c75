/** What a command means in a given state: the events it makes, or why it cannot be. Pure. */
import {
  type AgentRef,
  type BlockId,
  type CallId,
  type Command,
  type ConnectionId,
  type DurableEventBody,
  Fault,
  type InputId,
  type TurnId,
  textOf,
  textPart,
} from '@parlance/protocol';
import {
  type OpenCall,
  type QueuedInput,
  type SessionState,
  type Turn,
  waitingCall,
} from './session-state.ts';

/** What a decision needs to know besides the state: who asks, and ids for what is new. */
export type DecisionContext = {
  readonly by: string;
  readonly dialect: string;
  readonly via: ConnectionId | undefined;
  readonly key: string | undefined;
  readonly domain: string;
  readonly agent: AgentRef;
  /** who answers this input, where it is not the session's agent */
  readonly answeredBy: AgentRef | undefined;
  /** the block that was being streamed when the command came */
  readonly open: {
    readonly kind: 'text' | 'reasoning';
    readonly block: BlockId;
    readonly text: string;
    readonly durationMs: number;
  } | null;
  /** the input that is replaced, and the number of its event; null where none is, or there is no such input */
  readonly replaced: { readonly input: InputId; readonly seq: number } | null;
  /** the approval that is answered was requested in this session */
  readonly approvalKnown: boolean;
  /** how many inputs may wait in the session */
  readonly mostQueued: number;
  readonly newId: () => string;
};

/** when a session whose queue is full may have room */
const QUEUE_RETRY_MS = 2_000;

/** Commands that need no model: explaining and compacting are the engine's. */
export type Decided = Exclude<Command, { type: 'approval.explain' | 'context.compact' }>;

/** The events that the command makes; none where it was carried out before. Throws a `Fault` where it cannot be. */
export function decide(state: SessionState, command: Decided, asking: DecisionContext): DurableEventBody[] {
  switch (command.type) {
    case 'session.create':
      return state.created ? [] : begun(command, asking);
    case 'input.submit':
      return submit(state, command, asking);
    case 'turn.cancel':
      if (!state.turn) throw new Fault('no_turn', 'No turn is running.');
      return interruption(state.turn, 'cancelled', asking.open);
    case 'approval.answer':
      return answer(state, command, asking);
    case 'call.answer':
      return deferredAnswer(state, command);
    case 'grant.revoke':
      if (!state.grants.includes(command.grant)) throw new Fault('not_found', 'There is no such grant.');
      return [{ type: 'grant.revoked', grant: command.grant, by: asking.by }];
    case 'session.configure': {
      const { model, approval } = command;
      const agent = command.agent === undefined ? undefined : asking.agent;
      return inExisting(state, { type: 'session.configured', model, approval, agent, by: asking.by });
    }
    case 'session.rename':
      return inExisting(state, renaming(command.title, command.automatic, asking));
    case 'session.archive':
      return state.archived ? [] : inExisting(state, { type: 'session.archived', by: asking.by });
    case 'session.label':
      return inExisting(state, labelling(state, command.labels));
    case 'session.clear':
      if (!state.created) return [];
      return [
        ...(state.turn ? interruption(state.turn, 'cancelled', asking.open) : []),
        { type: 'session.cleared', by: asking.by },
      ];
  }
}

/** Whether the command ends a running turn in some state. */
export function mayEndTurn(command: Decided): boolean {
  switch (command.type) {
    case 'turn.cancel':
    case 'session.clear':
      return true;
    case 'input.submit':
      return command.mode === 'supersede' || command.replaces !== undefined;
    case 'approval.answer':
      return command.exit === true;
    default:
      return false;
  }
}

const creation = (named: boolean, asking: DecisionContext): DurableEventBody => ({
  type: 'session.created',
  dialect: asking.dialect,
  named,
  domain: asking.domain,
  agent: asking.agent,
});

function begun(
  command: Extract<Command, { type: 'session.create' }>,
  asking: DecisionContext,
): DurableEventBody[] {
  const { named, title, automatic, labels } = command;
  const events: DurableEventBody[] = [creation(named, asking)];
  if (title !== undefined) events.push(renaming(title, automatic, asking));
  if (labels) events.push(labelling({ labels: {} }, labels));
  return events;
}

const renaming = (
  title: string,
  automatic: boolean | undefined,
  { by }: DecisionContext,
): DurableEventBody => ({
  type: 'session.renamed',
  title,
  by,
  ...(automatic && { automatic }),
});

/** A session that has more, from before there was a limit, can still change those it has. */
function labelling(
  state: Pick<SessionState, 'labels'>,
  labels: Readonly<Record<string, string>>,
): DurableEventBody {
  const known = Object.keys(state.labels).length;
  const merged = Object.keys({ ...state.labels, ...labels }).length;
  if (merged > MOST_LABELS && merged > known)
    throw new Fault('invalid', `A session may have at most ${MOST_LABELS} labels.`);
  return { type: 'session.labelled', labels };
}

const MOST_LABELS = 50;

function inExisting(state: SessionState, event: DurableEventBody): DurableEventBody[] {
  if (!state.created) throw new Fault('not_found', 'There is no such session.');
  return [event];
}

function submit(
  state: SessionState,
  command: Extract<Command, { type: 'input.submit' }>,
  asking: DecisionContext,
): DurableEventBody[] {
  const { key } = asking;
  if (key !== undefined && state.keys.some((known) => known.key === key)) return [];
  if (
    !command.call &&
    textOf(command.parts).trim() === '' &&
    command.parts.every((part) => part.type === 'text')
  ) {
    throw new Fault('empty', 'The message is empty.');
  }
  const events: DurableEventBody[] = state.created ? [] : [creation(command.named, asking)];
  const superseded = (command.mode === 'supersede' || command.replaces) && state.turn;
  if (state.turn && state.queue.length >= asking.mostQueued) {
    const message = `${asking.mostQueued} messages wait in this session already.`;
    throw new Fault('limited', message, { retryAfterMs: QUEUE_RETRY_MS });
  }
  if (superseded) events.push(...interruption(superseded, 'superseded', asking.open));
  if (command.replaces) events.push(rewinding(state, asking));
  const input = asking.newId() as InputId;
  const { via, dialect } = asking;
  events.push({
    type: 'input.accepted',
    input,
    parts: command.parts,
    dialect,
    via,
    key,
    call: command.call,
    data: command.data,
    agent: asking.answeredBy,
  });
  if (!state.turn || superseded) {
    const next = state.queue[0] ?? { input, via, call: command.call, agent: asking.answeredBy };
    const agent = state.created ? state.agent : asking.agent;
    events.push(...turnBegun(next, asking.newId() as TurnId, agent));
  }
  return events;
}

function rewinding(state: SessionState, { replaced, by }: DecisionContext): DurableEventBody {
  if (!replaced) throw new Fault('not_found', 'There is no such message in this session.');
  if (replaced.seq < state.cutAt)
    throw new Fault('invalid', 'That message is no longer part of the context: it cannot be replaced.');
  if (state.queue.some(({ input }) => input === replaced.input))
    throw new Fault('invalid', 'That message still waits: it cannot be replaced.');
  return { type: 'session.rewound', input: replaced.input, from: replaced.seq, by };
}

/** The id of the call in a turn that a person asked for by name. */
export const directCallId = (turn: TurnId): CallId => `call_${turn}` as CallId;

/** A turn for this input. A call that a person asked for by name is there from the start. */
export function turnBegun(next: QueuedInput, turn: TurnId, agent: AgentRef): DurableEventBody[] {
  const started: DurableEventBody = {
    type: 'turn.started',
    turn,
    input: next.input,
    agent: next.agent ?? agent,
  };
  if (!next.call) return [started];
  return [started, { type: 'call.requested', turn, call: directCallId(turn), ...next.call }];
}

/** Ends the turn where it stands: the open block keeps what was shown, open calls are closed as aborted. */
export function interruption(
  turn: Turn,
  reason: 'cancelled' | 'superseded' | 'denied',
  open: DecisionContext['open'],
): DurableEventBody[] {
  return [
    ...closedBlock(turn, open),
    ...abortedCalls(turn.calls, turn.id),
    { type: 'turn.cancelled', turn: turn.id, reason },
  ];
}

export function closedBlock(turn: Turn, open: DecisionContext['open']): DurableEventBody[] {
  if (!open || open.text === '') return [];
  const { block, text, durationMs } = open;
  return open.kind === 'text'
    ? [{ type: 'text.ended', turn: turn.id, block, text, interrupted: true }]
    : [{ type: 'reasoning.ended', turn: turn.id, block, text, durationMs, interrupted: true }];
}

export const abortedCalls = (calls: readonly OpenCall[], turn: TurnId): DurableEventBody[] =>
  calls.map((call) => ({
    type: 'tool.ended',
    turn,
    call: call.call,
    outcome: 'aborted',
    parts: [textPart('aborted')],
    durationMs: 0,
  }));

/** The call had begun, and nobody can say what came of it. */
export const unknownOutcome = (call: OpenCall, turn: TurnId, why: string): DurableEventBody => ({
  type: 'tool.ended',
  turn,
  call: call.call,
  outcome: 'unknown',
  parts: [
    textPart(
      `${why} The outcome is unknown: it may have happened wholly, in part or not at all. It was not repeated.`,
    ),
  ],
  durationMs: 0,
});

function answer(
  state: SessionState,
  command: Extract<Command, { type: 'approval.answer' }>,
  asking: DecisionContext,
): DurableEventBody[] {
  const { turn } = state;
  const waiting = waitingCall(state);
  if (command.approval && command.approval !== waiting?.approval && !asking.approvalKnown) {
    throw new Fault('not_found', 'There is no such approval.');
  }
  if (!turn || !waiting || (command.approval && command.approval !== waiting.approval)) {
    throw new Fault('no_approval', 'No pending approval request');
  }
  if (command.hash !== undefined && command.hash !== waiting.hash) {
    throw new Fault('invalid', 'The answer is for something else than what is waiting.');
  }
  const { call, approval, ask } = waiting;
  const grant = command.answer === 'always' ? ask.grant : undefined;
  const { by, dialect } = asking;
  const { reason, said } = command;
  const answered: DurableEventBody = {
    type: 'approval.answered',
    turn: turn.id,
    call,
    approval,
    answer: command.answer,
    by,
    dialect,
    reason,
    said,
    grant,
  };
  if (command.answer !== 'deny') return [answered];
  const denial = textPart(reason ? `The user denied this call: ${reason}` : 'The user denied this call.');
  const denied: DurableEventBody = {
    type: 'tool.ended',
    turn: turn.id,
    call,
    outcome: 'denied',
    parts: [denial],
    durationMs: 0,
  };
  if (!command.exit) return [answered, denied];
  const others = { ...turn, calls: turn.calls.filter((open) => open.call !== call) };
  return [answered, denied, ...interruption(others, 'denied', null)];
}

function deferredAnswer(
  state: SessionState,
  command: Extract<Command, { type: 'call.answer' }>,
): DurableEventBody[] {
  const { turn } = state;
  const call = turn?.calls.find((open) => open.call === command.call && open.phase === 'deferred');
  if (!turn || !call) throw new Fault('not_found', 'No client was asked for this call.');
  const { parts, data, failed, untrusted, said } = command;
  const outcome = failed ? 'failed' : 'ok';
  const ended: DurableEventBody = {
    type: 'tool.ended',
    turn: turn.id,
    call: call.call,
    outcome,
    parts,
    data,
    durationMs: 0,
    said,
  };
  return [untrusted ? { ...ended, untrusted } : ended];
}
