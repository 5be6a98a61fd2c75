/** Decides which events a command produces in a given state. Pure. */
import {
  type AgentRef,
  type ApprovalId,
  answersText,
  type CallId,
  type ChildRef,
  type Command,
  type ConnectionId,
  checkAnswers,
  type DurableEventBody,
  Fault,
  type HistoryItem,
  type InputId,
  type ParentRef,
  type Part,
  type QuestionId,
  type ReadAnswer,
  type ReportTo,
  readAnswer,
  type TurnId,
  textOf,
  textPart,
  turnOptionsOf,
} from '@parlance/protocol';

import {
  type OpenQuestion,
  openQuestion,
  questionForMessage,
  type SessionState,
  type Turn,
  waitingCall,
} from './session-state.ts';
import { limitAfter } from './spending.ts';
import { interruption, type StreamedBlock, turnStarted } from './turn-events.ts';

/**
 * Returns the events of the command, or none if it no longer has an effect. Throws a `Fault` if it is
 * rejected.
 */
export function decide(
  state: SessionState,
  command: DecidableCommand,
  context: DecisionContext,
): DurableEventBody[] {
  switch (command.type) {
    case 'session.create':
      return state.created ? [] : decideCreation(command, context);
    case 'input.submit':
      return decideInput(state, command, context);
    case 'turn.cancel':
      return decideCancel(state, command, context);
    case 'approval.answer':
      return decideAnswer(state, command, context);
    case 'question.answer':
      return decideQuestion(state, command, context);
    case 'call.answer':
      return decideCallAnswer(state, command);
    case 'grant.revoke':
      if (!state.grants.includes(command.grant)) throw new Fault('not_found', 'There is no such grant.');
      return [{ type: 'grant.revoked', grant: command.grant, by: context.by }];
    case 'session.configure': {
      const { model, approval, limit } = command;
      const agent = command.agent === undefined ? undefined : context.agent;
      const { by } = context;
      const configured = { type: 'session.configured', model, approval, agent, limit, by } as const;
      return inExisting(state, configured, ...(limit === undefined ? [] : limitAsked(state, context)));
    }
    case 'session.rename':
      return inExisting(state, decideRename(command.title, command.automatic, context));
    case 'session.archive':
      return state.archived ? [] : inExisting(state, { type: 'session.archived', by: context.by });
    case 'session.unarchive':
      return state.archived ? [{ type: 'session.unarchived', by: context.by }] : inExisting(state);
    case 'session.pin':
      return state.pinned === command.pinned
        ? inExisting(state)
        : inExisting(state, { type: 'session.pinned', pinned: command.pinned, by: context.by });
    case 'session.tag':
      return inExisting(state, ...decideTags(state, command.tags, context));
    case 'session.label':
      return inExisting(state, decideLabels(state, command.labels));
    case 'history.append':
      return inIdle(state, ...historyImported(command.items, context));
    case 'history.remove':
      if (command.seq > state.seq) throw new Fault('not_found', 'There is no such item.');
      return inIdle(state, {
        type: 'history.removed',
        item: command.seq,
        index: command.index,
        by: context.by,
      });
    case 'session.rewind':
      return decideRewind(state, command, context);
    case 'session.clear':
      if (!state.created) return [];
      return [
        ...(state.turn ? interruption(state.turn, 'cancelled', context.open) : []),
        { type: 'session.cleared', by: context.by },
      ];
  }
}

/** A new limit answers the question of whether to continue above the old one; if it is reached as well, the turn asks again. */
const limitAsked = ({ turn }: SessionState, { by, dialect }: DecisionContext): DurableEventBody[] =>
  (turn?.questions ?? []).flatMap(({ purpose, question }) =>
    turn && purpose === 'limit'
      ? [{ type: 'question.answered', turn: turn.id, question, outcome: 'withdrawn', by, dialect }]
      : [],
  );

/** Whether the command can end the running turn. */
export function mayEndTurn(command: DecidableCommand, state: SessionState): boolean {
  switch (command.type) {
    case 'turn.cancel':
      return endsRunningTurn(command, state);
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

// Inputs of `decide` in addition to the state.

/** Commands that need no model call; `approval.explain` and `context.compact` do. */
export type DecidableCommand = Exclude<Command, { type: 'approval.explain' | 'context.compact' }>;

/** The sender of the command, the entities it refers to, and ids for new ones. */
export type DecisionContext = {
  readonly by: string;
  readonly dialect: string;
  readonly via: ConnectionId | undefined;
  readonly key: string | undefined;
  /** id of the sender's API key */
  readonly apiKey: string | undefined;
  readonly domain: string;
  readonly agent: AgentRef;
  /** the agent that answers this input, if it differs from the session's */
  readonly answeredBy: AgentRef | undefined;
  /** the block that is being streamed, for commands that may end a turn */
  readonly open: StreamedBlock | null;
  /** the input to replace and its event number, or null */
  readonly replaced: { readonly input: InputId; readonly seq: number } | null;
  /** whether the approval or question that the command answers was in this session */
  readonly isKnown: boolean;
  /** whether the sender may approve */
  readonly mayApprove: boolean;
  /** maximum number of queued inputs */
  readonly maxQueued: number;
  /** id of the new rewind and the event of its message; null for other commands */
  readonly rewind: { readonly id: string; readonly from: number | undefined } | null;
  /** ids of the new input and its turn; null for commands that create neither */
  readonly ids: { readonly input: InputId; readonly turn: TurnId } | null;
  /** one id per user message of an imported history */
  readonly historyInputs: readonly InputId[];
  /** for a session created as a sub-agent */
  readonly parent?: ParentRef;
  /** the call of the parent that the input's turn is for */
  readonly reportTo?: ReportTo;
  /** the sub-agent that the input is from */
  readonly child?: DurableEventBody<'input.accepted'>['child'];
};

export const sessionCreated = (
  { named, ephemeral, cwd }: { readonly named: boolean; readonly ephemeral?: boolean; readonly cwd?: string },
  { dialect, domain, agent, parent }: DecisionContext,
): DurableEventBody => ({
  type: 'session.created',
  dialect,
  named,
  domain,
  agent,
  ...(ephemeral && { ephemeral: true as const }),
  ...(cwd !== undefined && { cwd }),
  ...(parent && { parent }),
});

export function decideCreation(
  command: Extract<Command, { type: 'session.create' }>,
  context: DecisionContext,
): DurableEventBody[] {
  const { title, automatic, labels, history = [], untrusted } = command;
  const imported = historyImported(history, context).map((event) =>
    untrusted === undefined ? event : { ...event, untrusted },
  );
  const events: DurableEventBody[] = [sessionCreated(command, context), ...imported];
  if (title !== undefined) events.push(decideRename(title, automatic, context));
  if (labels) events.push(decideLabels({ labels: {} }, labels));
  return events;
}

/**
 * Emits one event per user message with the items that follow it, so that compaction, paging and `replaces`
 * treat it like a turn.
 */
function historyImported(
  items: readonly HistoryItem[],
  { dialect, historyInputs }: DecisionContext,
): DurableEventBody<'history.imported'>[] {
  const starts = items.flatMap(({ type }, index) => (type === 'user' && index > 0 ? [index] : []));
  const inputs = historyInputs.values();
  return [0, ...starts].flatMap((from, at): DurableEventBody<'history.imported'>[] => {
    const part = items.slice(from, starts[at]);
    if (part.length === 0) return [];
    const input = part[0]?.type === 'user' ? inputs.next().value : undefined;
    return [{ type: 'history.imported', ...(input && { input }), items: part, dialect }];
  });
}

export const decideRename = (
  title: string,
  automatic: boolean | undefined,
  { by }: DecisionContext,
): DurableEventBody => ({
  type: 'session.renamed',
  title,
  by,
  ...(automatic && { automatic }),
});

/** A session above the label limit can still change its existing labels. */
export function labelsFit(
  state: Pick<SessionState, 'labels'>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const known = Object.keys(state.labels).length;
  const merged = Object.keys({ ...state.labels, ...labels }).length;
  return merged <= MAX_LABELS || merged === known;
}

export function decideLabels(
  state: Pick<SessionState, 'labels'>,
  labels: Readonly<Record<string, string>>,
): DurableEventBody {
  if (!labelsFit(state, labels))
    throw new Fault('invalid', `A session may have at most ${MAX_LABELS} labels.`);
  return { type: 'session.labelled', labels };
}

const MAX_LABELS = 50;

/** Tags are sorted and unique regardless of case. No events if the session already has these tags. */
export function decideTags(
  { tags: before }: Pick<SessionState, 'tags'>,
  requested: readonly string[],
  { by }: DecisionContext,
): DurableEventBody[] {
  const byKey = new Map(requested.toReversed().map((tag) => [tag.toLowerCase(), tag]));
  const tags = [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tag]) => tag);
  const isSame = tags.length === before.length && tags.every((tag, index) => tag === before[index]);
  return isSame ? [] : [{ type: 'session.tagged', tags, by }];
}

/** Throws `not_found` if the session does not exist. */
export function inExisting(state: SessionState, ...events: DurableEventBody[]): DurableEventBody[] {
  if (!state.created) throw new Fault('not_found', 'There is no such session.');
  return events;
}

/** Like `inExisting`. Throws `busy` if a turn runs. */
function inIdle(state: SessionState, ...events: DurableEventBody[]): DurableEventBody[] {
  if (state.turn || state.rewinding)
    throw new Fault('busy', 'A turn is running; try again after it has ended.');
  return inExisting(state, ...events);
}

/** Retry hint if the queue of a session is full. */
const QUEUE_RETRY_MS = 2_000;

type SubmitInput = Extract<Command, { type: 'input.submit' }>;

export function decideInput(
  state: SessionState,
  command: SubmitInput,
  context: DecisionContext,
): DurableEventBody[] {
  const { key, ids } = context;
  if (!ids) throw new Error('input.submit needs ids');
  if (key !== undefined && state.keys.some((known) => known.key === key)) return [];
  if (
    !command.call &&
    !(command.continues && state.created && command.parts.length === 0) &&
    textOf(command.parts).trim() === '' &&
    command.parts.every((part) => part.type === 'text')
  ) {
    throw new Fault('empty', 'The message is empty.');
  }
  const asked = command.answers ? questionForMessage(state) : undefined;
  if (state.turn && asked) return decideReply({ state, turn: state.turn }, asked, command, context);
  if (command.mode === 'steer') checkSteering(command);
  const events: DurableEventBody[] = state.created ? [] : [sessionCreated(command, context)];
  const superseded = supersedes(command) ? state.turn : null;
  if ((state.turn || state.rewinding) && state.queue.length >= context.maxQueued) {
    const message = `This session already has ${context.maxQueued} queued messages.`;
    throw new Fault('limited', message, { retryAfterMs: QUEUE_RETRY_MS });
  }
  const { results = [] } = command;
  events.push(...results.flatMap((result) => decideCallAnswer(state, result)));
  if (superseded) events.push(...interruption(withoutCalls(superseded, results), 'superseded', context.open));
  if (command.replaces) events.push(conversationRewound(state, context));
  const { via, dialect } = context;
  const { input, turn } = ids;
  const starts = startsTurn(state, command);
  const [waiting] = state.queue;
  events.push({
    type: 'input.accepted',
    input,
    parts: command.parts,
    dialect,
    via,
    key,
    call: command.call,
    data: command.data,
    agent: context.answeredBy,
    system: command.system,
    ...(context.apiKey !== undefined && { apiKey: context.apiKey }),
    ...(command.untrusted && { untrusted: true }),
    ...(context.reportTo && { reportTo: context.reportTo }),
    ...(context.child && { child: context.child }),
    turn: starts && !waiting ? undefined : turn,
    ...(command.mode === 'steer' && state.turn && { joins: state.turn.id }),
    ...turnOptionsOf(command),
    // Nobody waits for an answer that they cannot give.
    project: context.mayApprove ? command.project : undefined,
  });
  if (starts) {
    const { answeredBy: agent } = context;
    const next = waiting ?? { input, turn, via, call: command.call, agent };
    events.push(...turnStarted(next, state.created ? state.agent : context.agent));
  }
  return events;
}

/** What concerns a whole turn cannot join one that has begun. Independent of the state: a client does not know it. */
function checkSteering(command: SubmitInput): void {
  const { call, replaces, answeredBy, continues } = command;
  const refused = Object.entries({ call, replaces, answeredBy, continues, ...turnOptionsOf(command) });
  const field = refused.find(([, value]) => value !== undefined)?.[0];
  if (field) throw new Fault('invalid', `A message with mode "steer" cannot have "${field}".`);
}

/** The inputs that join the running turn with its next model call. */
export const joining = ({ turn, queue }: SessionState): DurableEventBody<'input.joined'>[] =>
  queue.flatMap(({ input, joins, turn: own }) =>
    turn && own && joins === turn.id ? [{ type: 'input.joined', turn: turn.id, input, own }] : [],
  );

/** The turn without the calls that these results answer. */
const withoutCalls = (turn: Turn, results: readonly { readonly call: CallId }[]): Turn => ({
  ...turn,
  calls: turn.calls.filter(({ call }) => !results.some((result) => result.call === call)),
});

const supersedes = ({ mode, replaces }: SubmitInput): boolean =>
  mode === 'supersede' || replaces !== undefined;

/** Whether the input starts a turn immediately instead of being queued. */
const startsTurn = (state: SessionState, command: SubmitInput): boolean =>
  !state.rewinding && (!state.turn || supersedes(command));

/** The conversation is rewound at once; the files are restored after that has been stored (`restoreFiles`). */
function decideRewind(
  state: SessionState,
  { to, undo: undoes, conversation, files, overwrite }: Extract<Command, { type: 'session.rewind' }>,
  context: DecisionContext,
): DurableEventBody[] {
  const { by } = context;
  if (context.rewind === null) throw new Error('session.rewind needs an id');
  const { id: rewind, from } = context.rewind;
  if ((to === undefined) === (undoes === undefined))
    throw new Fault('invalid', 'A rewind names a message ("to") or the rewind that it undoes ("undo").');
  if (!conversation && !files) throw new Fault('invalid', 'Neither the conversation nor files are rewound.');
  const events: DurableEventBody[] = [];
  if (conversation && to !== undefined) events.push({ ...conversationRewound(state, context), rewind });
  else if (conversation && undoes !== undefined && state.rewound?.rewind === undoes)
    events.push({ type: 'session.restored', rewind: undoes, from: state.rewound.from, by });
  else if (conversation && !files)
    throw new Fault('invalid', 'The conversation has continued since: that rewind cannot be undone.');
  if (files) {
    if (to !== undefined && from === undefined)
      throw new Fault('not_found', 'There is no such message in this session.');
    events.push({ type: 'rewind.started', rewind, from, undoes, overwrite, by });
  }
  if (state.queue.length > 0)
    throw new Fault('busy', 'Messages are queued; cancel them or try again after their turns.');
  return inIdle(state, ...events);
}

function conversationRewound(
  state: SessionState,
  { replaced, by }: DecisionContext,
): DurableEventBody<'session.rewound'> {
  if (!replaced) throw new Fault('not_found', 'There is no such message in this session.');
  if (replaced.seq < state.cutAt)
    throw new Fault('invalid', 'That message is no longer part of the context: it cannot be replaced.');
  if (state.queue.some(({ input }) => input === replaced.input))
    throw new Fault('invalid', 'That message is still queued: it cannot be replaced.');
  return { type: 'session.rewound', input: replaced.input, from: replaced.seq, by };
}

/**
 * Thrown for the approval or question of a sub-agent: its session decides on the answer. Not a fault. With `reply`, a message is
 * the answer: the session that it was sent to records it.
 */
export class AskedByChild extends Error {
  override readonly name = 'AskedByChild';
  constructor(
    readonly child: ChildRef,
    readonly pending: { readonly approval: ApprovalId } | { readonly question: QuestionId },
    readonly reply?: {
      readonly answer: Pick<QuestionAnswer, 'answers' | 'declined'>;
      readonly said: readonly DurableEventBody[];
    },
  ) {
    super('a sub-agent asks');
  }
}

export function decideAnswer(
  state: SessionState,
  command: Extract<Command, { type: 'approval.answer' }>,
  context: DecisionContext,
): DurableEventBody[] {
  const { turn } = state;
  const waiting = waitingCall(state, command.approval);
  if (command.approval && !waiting && !context.isKnown) {
    throw new Fault('not_found', 'There is no such approval.');
  }
  if (!turn || !waiting) {
    throw new Fault('no_approval', 'No pending approval request');
  }
  if (command.hash !== undefined && command.hash !== waiting.hash) {
    throw new Fault('invalid', 'The answer does not match the pending approval.');
  }
  if (waiting.from) throw new AskedByChild(waiting.from, { approval: waiting.approval });
  const { call, approval, ask } = waiting;
  const grant = command.answer === 'always' ? ask.grant : undefined;
  const { by, dialect } = context;
  const { reason, said, terms, attributes } = command;
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
    terms,
    attributes,
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

type QuestionAnswer = Extract<Command, { type: 'question.answer' }>;

function decideQuestion(
  state: SessionState,
  command: QuestionAnswer,
  context: DecisionContext,
): DurableEventBody[] {
  const { turn } = state;
  const asked = openQuestion(state, command.question);
  if (!turn || !asked) {
    if (command.question && !context.isKnown) throw new Fault('not_found', 'There is no such question.');
    throw new Fault('no_approval', 'No question waits for an answer.');
  }
  if (asked.child) throw new AskedByChild(asked.child, { question: asked.question });
  const read: ReadAnswer = command.declined
    ? { outcome: 'declined' }
    : checkAnswers(asked, command.answers ?? {});
  if ('problem' in read) throw new Fault('invalid', read.problem);
  return questionAnswered({ state, turn }, asked, { read, command, context });
}

/** A message that answers the question: it joins the turn at once. If it is no valid answer, the question is repeated. */
function decideReply(
  running: { readonly state: SessionState; readonly turn: Turn },
  asked: OpenQuestion,
  command: SubmitInput,
  context: DecisionContext,
): DurableEventBody[] {
  const { turn } = running;
  const { ids, dialect, via, key } = context;
  if (!ids) throw new Error('input.submit needs ids');
  const { input, turn: own } = ids;
  const { parts, data } = command;
  const said: DurableEventBody[] = [
    {
      type: 'input.accepted',
      input,
      parts,
      dialect,
      via,
      key,
      data,
      turn: own,
      joins: turn.id,
      answers: asked.question,
    },
    { type: 'input.joined', turn: turn.id, input, own },
  ];
  const read = readAnswer(asked, textOf(parts));
  if ('problem' in read)
    return [...said, { type: 'question.repeated', ...repeatable(asked), problem: read.problem }];
  if (asked.child) {
    const declined = read.outcome === 'declined';
    const answer = { declined, ...(!declined && { answers: read.answers }) };
    throw new AskedByChild(asked.child, { question: asked.question }, { answer, said });
  }
  const terms = turnOptionsOf(command);
  const answer = Object.values(terms).some((value) => value !== undefined) ? { terms } : {};
  const more = parts.filter(({ type }) => type !== 'text');
  return [...said, ...questionAnswered(running, asked, { read, command: answer, context, more })];
}

const repeatable = ({ seq: _seq, at: _at, resume: _resume, child: _child, ...question }: OpenQuestion) =>
  question;

type Reply = {
  readonly read: Exclude<ReadAnswer, { problem: string }>;
  readonly command: Pick<QuestionAnswer, 'terms' | 'attributes'>;
  readonly context: DecisionContext;
  /** what came with the answer */
  readonly more?: readonly Part[];
};

/** The answer is the result of the call that asked, unless that continues with it. */
function questionAnswered(
  { state, turn }: { readonly state: SessionState; readonly turn: Turn },
  asked: OpenQuestion,
  { read, command: { terms, attributes }, context, more = [] }: Reply,
): DurableEventBody[] {
  const { question, call, requires, resume } = asked;
  if (requires === 'approve' && !context.mayApprove)
    throw new Fault('forbidden', 'Answering this question needs the permission to approve.');
  const { by, dialect } = context;
  const answered: DurableEventBody = {
    type: 'question.answered',
    turn: turn.id,
    question,
    call,
    ...read,
    by,
    dialect,
    terms,
    attributes,
  };
  const isResult = turn.calls.some((open) => open.call === call && open.phase === 'asking');
  if (asked.purpose === 'limit' && read.outcome === 'answered') {
    const limit = limitAfter(state, asked, read.answers);
    return limit === undefined ? [answered] : [answered, { type: 'session.configured', limit, by }];
  }
  if (!call || !isResult || resume !== undefined) return [answered];
  const text =
    read.outcome === 'answered' ? answersText(asked, read.answers) : 'The user declined to answer.';
  return [
    answered,
    {
      type: 'tool.ended',
      turn: turn.id,
      call,
      outcome: 'ok',
      parts: [textPart(text), ...more],
      ...(read.outcome === 'answered' && { data: { answers: read.answers } }),
      durationMs: 0,
    },
  ];
}

type CallAnswer = Extract<Command, { type: 'call.answer' }>;

/** The result of a deferred call; it may arrive with an input. */
export type CallResult = Pick<CallAnswer, 'call' | 'parts' | 'failed'> & Partial<CallAnswer>;

export function decideCallAnswer(state: SessionState, command: CallResult): DurableEventBody[] {
  const { turn } = state;
  const call = turn?.calls.find((open) => open.call === command.call && open.phase === 'deferred');
  if (!turn || !call) throw new Fault('not_found', 'There is no such deferred call.');
  const { parts, data, failed, untrusted, said, terms, attributes, system } = command;
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
    terms,
    attributes,
    ...(system && { system }),
  };
  // The server does not know where the result of a client's own tool comes from.
  const isUntrusted = untrusted ?? turn.terms.tools?.some(({ name }) => name === call.tool);
  return [isUntrusted ? { ...ended, untrusted: true } : ended];
}

type CancelTurn = Extract<Command, { type: 'turn.cancel' }>;

export function decideCancel(
  state: SessionState,
  command: CancelTurn,
  context: DecisionContext,
): DurableEventBody[] {
  if (state.turn && endsRunningTurn(command, state))
    return interruption(state.turn, 'cancelled', context.open);
  const queued = state.queue.find(({ turn }) => turn !== undefined && turn === command.turn);
  if (!queued?.turn)
    throw new Fault('no_turn', command.turn ? 'The turn is not running.' : 'No turn is running.');
  return [{ type: 'input.cancelled', input: queued.input, turn: queued.turn, by: context.by }];
}

/** False if the command names a different turn. */
export const endsRunningTurn = ({ turn }: CancelTurn, state: SessionState): boolean =>
  turn === undefined || turn === state.turn?.id;
