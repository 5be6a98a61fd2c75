/**
 * Events of a session. Each is declared as durable (stored, numbered per session without gaps, with full values) or
 * ephemeral (sent to readers, not stored). Replaying the durable events gives the whole conversation.
 */
import { z } from 'zod';
import {
  AgentRef,
  ApprovalAnswer,
  ApprovalMode,
  Ask,
  ChangedFiles,
  ChildRef,
  ContextUse,
  Delegation,
  DirectCall,
  Fallback,
  Outcome,
  ParentRef,
  ProjectFile,
  ReportTo,
  RewoundFiles,
  Sealed,
  Usage,
} from './event-fields.ts';
import { FaultData } from './faults.ts';
import { HistoryItem, SystemText } from './history.ts';
import { ApprovalId, BlockId, CallId, ConnectionId, InputId, QuestionId, SessionId, TurnId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Part } from './parts.ts';
import { Answers, QUESTION, QuestionOutcome } from './questions.ts';
import { Amount, Cost, LimitUse, ModelTask, Spent } from './spend.ts';
import { ANSWER_TERMS, TURN_OPTIONS } from './turn-options.ts';

/**
 * `turn`: messages, and what an agent does in answer to them. `session`: the session as a whole – its settings,
 * title, tags, and what stays in its context. A projection handles the session events that its protocol shows and
 * is exhaustive over turn events, so that new data of a session needs no change in any of them.
 */
type Category = 'turn' | 'session';

const durable = <C extends Category, Shape extends z.ZodRawShape>(category: C, shape: Shape) => ({
  durable: true as const,
  category,
  body: z.object(shape),
});
const ephemeral = <C extends Category, Shape extends z.ZodRawShape>(category: C, shape: Shape) => ({
  durable: false as const,
  category,
  body: z.object(shape),
});

export const EVENTS = {
  'session.created': durable('session', {
    dialect: z.string(),
    /** false if the client gave no name and cannot reopen the session */
    named: z.boolean(),
    domain: z.string(),
    agent: AgentRef,
    /** hidden from lists, and erased after a period without use */
    ephemeral: z.literal(true).optional(),
    /** working folder of its tools, links resolved; absent: the server's */
    cwd: z.string().optional(),
    /** if it is a sub-agent */
    parent: ParentRef.optional(),
    /** its tools work in a copy of the folder; a person decides about the changes */
    worktree: z.literal(true).optional(),
  }),
  /**
   * Part of an imported conversation: a user message, if it starts with one, and the items that follow it. It
   * took place before the session was created.
   */
  'history.imported': durable('session', {
    /** id of the user message */
    input: InputId.optional(),
    items: z.array(HistoryItem).min(1),
    dialect: z.string(),
    /** whether it contains untrusted content; absent: if it contains tool results or pages */
    untrusted: z.boolean().optional(),
  }),
  /** One item leaves the context; a call leaves it with its result. The events stay. */
  'history.removed': durable('session', {
    /** the event that the item is of */
    item: z.number(),
    /** position in `items` of an imported history; otherwise 0 */
    index: z.number(),
    by: z.string(),
  }),
  /** The conversation so far leaves the context. The events stay. */
  'session.cleared': durable('session', { by: z.string() }),

  /** An input is replaced: it and later events leave the context. The events stay. */
  'session.rewound': durable('session', {
    input: InputId,
    /** seq of the event that accepted that input */
    from: z.number(),
    by: z.string(),
    /** id of the rewind, if it was not caused by a message that replaces another */
    rewind: z.string().optional(),
  }),
  /** The conversation is again as it was before this rewind; nothing was added since. */
  'session.restored': durable('session', { rewind: z.string(), from: z.number(), by: z.string() }),
  /** Stored before the first file of a rewind is changed. */
  'rewind.started': durable('session', {
    rewind: z.string(),
    /** what turns have changed from this event on is taken back; absent if another rewind is undone */
    from: z.number().optional(),
    /** the rewind that is undone */
    undoes: z.string().optional(),
    /** files to restore although somebody else has changed them since */
    overwrite: z.array(z.string()),
    by: z.string(),
  }),
  /** The files of a rewind are restored. */
  'files.rewound': durable('turn', {
    rewind: z.string(),
    undoes: z.string().optional(),
    by: z.string(),
    ...RewoundFiles.shape,
  }),
  /** Settings of the session; null: the server's default. */
  'session.configured': durable('session', {
    model: z.string().nullable().optional(),
    approval: ApprovalMode.nullable().optional(),
    agent: AgentRef.optional(),
    /** above it, a turn asks before its next step; null: none */
    limit: Amount.nullable().optional(),
    by: z.string(),
  }),
  /** A model was called for something else than a step, or the answer of a step was broken off. */
  'usage.recorded': durable('session', {
    task: ModelTask,
    /** name of the model */
    model: z.string(),
    usage: Usage,
    /** the answer was broken off: what had arrived is counted by estimate, unless the vendor had counted it */
    estimated: z.literal(true).optional(),
    cost: Cost.optional(),
    /** the turn that it is counted for */
    during: TurnId.optional(),
    /** id of the agent */
    agent: z.string(),
    /** id of the API key of the caller */
    apiKey: z.string().optional(),
  }),

  'session.renamed': durable('session', {
    title: z.string(),
    by: z.string(),
    /** generated, not chosen by a user */
    automatic: z.boolean().optional(),
  }),
  /** Archived sessions can be read, but are not listed by default. */
  'session.archived': durable('session', { by: z.string() }),
  'session.unarchived': durable('session', { by: z.string() }),
  /** Pinned sessions come first in the console. */
  'session.pinned': durable('session', { pinned: z.boolean(), by: z.string() }),
  /** Replaces the tags of the session. */
  'session.tagged': durable('session', { tags: z.array(z.string()), by: z.string() }),
  /** Labels that a client sets to look up a session. */
  'session.labelled': durable('session', { labels: z.record(z.string(), z.string()) }),

  'input.accepted': durable('turn', {
    input: InputId,
    parts: z.array(Part),
    dialect: z.string(),
    via: ConnectionId.optional(),
    key: z.string().optional(),
    call: DirectCall.optional(),
    /** data for programs; not shown to the model */
    data: z.record(z.string(), JsonValue).optional(),
    /** the agent that answers, if it differs from the session's */
    agent: AgentRef.optional(),
    /** id of its turn, if the input is queued */
    turn: TurnId.optional(),
    /** the running turn that it joins before the next model call; if that turn ends first, it starts its own */
    joins: TurnId.optional(),
    /** the question that it answers: the model reads the answer, not the message */
    answers: QuestionId.optional(),
    /** id of the API key that sent it */
    apiKey: z.string().optional(),
    /** contains content that the user did not write; pages and links count without it */
    untrusted: z.boolean().optional(),
    /** instructions for the model directly before and after the parts */
    system: z.object({ before: SystemText.optional(), after: SystemText.optional() }).optional(),
    /** the outcome of its turn is for this call of the parent */
    reportTo: ReportTo.optional(),
    /** the sub-agent that it is from, and its turn, if it is the outcome of one */
    child: ChildRef.extend({ turn: TurnId.optional() }).optional(),
    ...TURN_OPTIONS,
  }),
  /** A queued input was cancelled: its turn will not start. */
  'input.cancelled': durable('turn', { input: InputId, turn: TurnId, by: z.string() }),

  /** The model reads the input from its next call on, as part of the running turn. */
  'input.joined': durable('turn', {
    turn: TurnId,
    input: InputId,
    /** id of its own turn, which will not start */
    own: TurnId,
  }),

  'turn.started': durable('turn', { turn: TurnId, input: InputId, agent: AgentRef }),
  /** The process died during the turn, or the store was unavailable; the unfinished step is repeated. */
  'turn.resumed': durable('turn', { turn: TurnId }),
  'turn.ended': durable('turn', {
    turn: TurnId,
    usage: Usage,
    durationMs: z.number(),
    context: ContextUse,
    /** the limit of model calls that the turn reached before the model was done; the next message continues */
    paused: z.literal('max_steps').optional(),
  }),
  'turn.failed': durable('turn', {
    turn: TurnId,
    fault: FaultData,
    durationMs: z.number(),
    context: ContextUse.optional(),
  }),
  'turn.cancelled': durable('turn', {
    turn: TurnId,
    reason: z.enum(['cancelled', 'superseded', 'denied']),
    context: ContextUse.optional(),
  }),

  'agent.changed': durable('turn', { turn: TurnId, from: AgentRef, to: AgentRef, reason: z.string() }),

  /** `interrupted`: the turn was cancelled during the block; the text is the part streamed until then. */
  'reasoning.ended': durable('turn', {
    turn: TurnId,
    block: BlockId,
    text: z.string(),
    durationMs: z.number(),
    interrupted: z.boolean().optional(),
    sealed: Sealed.optional(),
  }),
  'text.ended': durable('turn', {
    turn: TurnId,
    block: BlockId,
    text: z.string(),
    interrupted: z.boolean().optional(),
  }),
  /**
   * The model's answer was interrupted or did not start, and is requested again: output of the step so far is
   * discarded.
   */
  'step.restarted': durable('turn', {
    turn: TurnId,
    attempt: z.number(),
    delayMs: z.number(),
    fault: FaultData,
    /** host and port of the provider, if it has an address */
    host: z.string().optional(),
    /** whether output of the step had been shown */
    shown: z.boolean().optional(),
    /** the model that is asked from here on, if it is another one */
    fallback: Fallback.optional(),
  }),
  /** One answer of the model is complete; its blocks and calls are the events before this one. */
  'step.ended': durable('turn', {
    turn: TurnId,
    usage: Usage,
    stop: z.enum(['done', 'calls', 'length', 'refused']),
    /** name of the model, if a vendor answered */
    model: z.string().optional(),
    /** whether the usage is the vendor's count */
    counted: z.boolean().optional(),
    /** our own estimate of the same content */
    estimate: z.number().optional(),
    /** in millionths of a US dollar, at the price of that moment; absent if the model had none */
    cost: Cost.optional(),
  }),
  /** 80 % of a limit on money or tokens is used. */
  'limit.approached': durable('turn', { turn: TurnId, limit: LimitUse }),

  'call.requested': durable('turn', {
    turn: TurnId,
    call: CallId,
    tool: z.string(),
    input: z.record(z.string(), JsonValue),
    /** the model's text if it was not JSON; the input is then empty and the call fails */
    malformed: z.string().optional(),
    sealed: Sealed.optional(),
  }),
  'approval.requested': durable('turn', {
    turn: TurnId,
    call: CallId,
    approval: ApprovalId,
    ask: Ask,
    /** hash of the request shown to the user; an answer may cite it */
    hash: z.string(),
    /** the sub-agent that asks, which has an approval of the same id; the call is the one that waits for it */
    child: ChildRef.optional(),
  }),
  'approval.explained': durable('turn', { turn: TurnId, approval: ApprovalId, text: z.string() }),
  'approval.answered': durable('turn', {
    turn: TurnId,
    call: CallId,
    approval: ApprovalId,
    answer: ApprovalAnswer,
    by: z.string(),
    dialect: z.string(),
    reason: z.string().optional(),
    /** the text of the message that answered it, if any */
    said: z.string().optional(),
    /** the standing grant created by "always" */
    grant: z.string().optional(),
    /** the sub-agent that asked: its call goes on, not the one of this event */
    child: ChildRef.optional(),
    ...ANSWER_TERMS,
  }),
  /**
   * The turn waits for an answer of the user: before its next model call, or the call that asks. It is withdrawn when the
   * turn ends.
   */
  'question.asked': durable('turn', {
    ...QUESTION,
    /** what the call continues from when it runs again with the answer; absent: the answer is its result */
    resume: JsonValue.optional(),
    /** the sub-agent that asks, which has a question of the same id */
    child: ChildRef.optional(),
  }),
  /** A message was not a valid answer. The question still waits. */
  'question.repeated': durable('turn', { ...QUESTION, problem: z.string() }),
  'question.answered': durable('turn', {
    turn: TurnId,
    question: QuestionId,
    call: CallId.optional(),
    outcome: QuestionOutcome,
    /** the sub-agent that asked: its call goes on */
    child: ChildRef.optional(),
    /** if the outcome is `answered` */
    answers: Answers.optional(),
    by: z.string(),
    dialect: z.string(),
    ...ANSWER_TERMS,
  }),
  /** Stored before the side effect. */
  'tool.started': durable('turn', {
    turn: TurnId,
    call: CallId,
    /** identifies the definition that another program gave for the tool (MCP) when the call was started */
    definition: z.string().optional(),
    /** the sub-agent that executes it; created after this event, once */
    child: Delegation.optional(),
  }),
  /** A sub-agent works on the call: the session waits for its outcome. */
  'call.delegated': durable('turn', { turn: TurnId, call: CallId, child: SessionId }),
  /** A client that may be disconnected executes the call: the session waits for its result. */
  'call.deferred': durable('turn', {
    turn: TurnId,
    call: CallId,
    /** the call also shows something to the user, such as the progress of a plan */
    notice: z.boolean().optional(),
  }),
  'tool.ended': durable('turn', {
    turn: TurnId,
    call: CallId,
    outcome: Outcome,
    /** it was running when the turn was cancelled: it may have been executed */
    interrupted: z.boolean().optional(),
    parts: z.array(Part),
    /** structured result, if the tool has one */
    data: z.record(z.string(), JsonValue).optional(),
    durationMs: z.number(),
    /** contains untrusted content: while it is in the context, standing grants do not apply */
    untrusted: z.boolean().optional(),
    /** the user's text, if it is the outcome */
    said: z.string().optional(),
    /** the turn ends with this call */
    final: z.boolean().optional(),
    /** the call shows something to the user, such as a plan */
    notice: z.boolean().optional(),
    /** the tool has an app (a page of an MCP server) that shows the result; `meta` is only for it */
    app: z.object({ resource: z.string(), meta: z.record(z.string(), JsonValue).optional() }).optional(),
    ...ANSWER_TERMS,
    /** an instruction for the model after the results */
    system: SystemText.optional(),
    /** of a call that may have changed files of the working folder */
    files: ChangedFiles.optional(),
    /** the sub-agent whose answer is the outcome, its turn, and what that has spent */
    child: z.object({ session: SessionId, turn: TurnId, spent: Spent.optional() }).optional(),
    /** a sub-agent that is to stop */
    stops: SessionId.optional(),
  }),
  /** The sub-agent was told to stop. */
  'child.stopped': durable('session', { child: SessionId }),
  /** What the parent knows of this session, a sub-agent: the outcomes of these turns, and what waits for an answer. */
  'parent.informed': durable('session', {
    turns: z.array(TurnId),
    /** id of the approval or question */
    waits: z.string().nullable(),
  }),
  /** A standing grant was revoked. */
  'grant.revoked': durable('session', { grant: z.string(), by: z.string() }),

  /**
   * Which files of the working folder are instructions from here on, and which are not. Absent while there are none,
   * and while nothing changes.
   */
  'instructions.changed': durable('turn', {
    /** the turn that they are used in; absent in sessions of earlier versions */
    turn: TurnId.optional(),
    files: z.array(ProjectFile),
  }),

  'context.compacted': durable('session', {
    summary: z.string(),
    oldTokens: z.number(),
    newTokens: z.number(),
    /** our own estimate of the same content, if `newTokens` continues a vendor's count */
    estimate: z.number().optional(),
    strategy: z.enum(['threshold', 'none']),
    /** turns that started before this event are no longer in the context */
    keepFrom: z.number(),
    /** the first event needed to rebuild the context */
    readFrom: z.number(),
  }),

  /** The session and all its events are deleted; a new one of the same name starts at seq 1. */
  'session.erased': ephemeral('session', { by: z.string() }),
  'reasoning.delta': ephemeral('turn', { turn: TurnId, block: BlockId, text: z.string() }),
  'text.delta': ephemeral('turn', { turn: TurnId, block: BlockId, text: z.string() }),
  /**
   * A part of the arguments of a call, as JSON, while the model writes them. `call.requested` follows with
   * the complete arguments; without it (`step.restarted`, a refusal, the end of the turn) they are discarded.
   * Providers that do not stream arguments send none.
   */
  'call.arguments.delta': ephemeral('turn', {
    turn: TurnId,
    call: CallId,
    tool: z.string(),
    /** characters of the arguments before this part; a call starts at 0, possibly with an empty text */
    offset: z.number().int().min(0),
    text: z.string(),
  }),
  /** Progress of a call that runs in a client or in a sub-agent. */
  'call.progress': ephemeral('turn', {
    call: CallId,
    execution: z.string(),
    status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
    progress: z.number().optional(),
    message: z.string().optional(),
    /** what the sub-agent has spent on it so far */
    spent: Spent.optional(),
  }),
};

type Events = typeof EVENTS;
export type EventType = keyof Events;
export type DurableEventType = { [T in EventType]: Events[T]['durable'] extends true ? T : never }[EventType];
export type EphemeralEventType = Exclude<EventType, DurableEventType>;
type TurnEventType = { [T in EventType]: Events[T]['category'] extends 'turn' ? T : never }[EventType];

type BodyOf<T extends EventType> = { type: T } & z.infer<Events[T]['body']>;
/** `id` and `at` (milliseconds) are set once, when the event is created; projections use them. */
type Envelope = { session: SessionId; id: string; at: number };

/** An event that has no seq yet. */
export type DurableEventBody<T extends DurableEventType = DurableEventType> = { [K in T]: BodyOf<K> }[T];
export type EphemeralEventBody<T extends EphemeralEventType = EphemeralEventType> = {
  [K in T]: BodyOf<K>;
}[T];
export type DurableEvent<T extends DurableEventType = DurableEventType> = {
  [K in T]: BodyOf<K> & Envelope & { seq: number };
}[T];
export type EphemeralEvent<T extends EphemeralEventType = EphemeralEventType> = {
  [K in T]: BodyOf<K> & Envelope;
}[T];
export type SessionEvent = DurableEvent | EphemeralEvent;

/** See `Category`. The rest of the events are about the session as a whole. */
export const isTurnEvent = <E extends { readonly type: EventType }>(
  event: E,
): event is Extract<E, { readonly type: TurnEventType }> => EVENTS[event.type].category === 'turn';

export const isDurable = (event: SessionEvent): event is DurableEvent => 'seq' in event;

const Head = z.object({
  session: SessionId,
  id: z.string(),
  at: z.number(),
  seq: z.number().int().positive(),
});

/** Parses a stored event. Throws if it is invalid: a foreign or damaged log is never guessed at. */
export function parseDurableEvent(value: unknown): DurableEvent {
  const type = (value as { type?: unknown } | null)?.type;
  const known =
    typeof type === 'string' && Object.hasOwn(EVENTS, type) ? EVENTS[type as EventType] : undefined;
  if (!known?.durable) throw new Error(`not an event: ${String(type)}`);
  return { ...Head.parse(value), type, ...known.body.parse(value) } as DurableEvent;
}
