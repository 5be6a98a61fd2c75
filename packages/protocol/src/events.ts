/**
 * Everything that can happen in a session. Each event is declared here as a *event* (durable, numbered per session
 * without gaps, carries full values) or as *live* (shown to whoever watches, then forgotten). Replaying the events
 * alone gives the whole conversation.
 */
import { z } from 'zod';
import { FaultData } from './faults.ts';
import { ApprovalId, BlockId, CallId, ConnectionId, InputId, SessionId, TurnId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Part } from './parts.ts';

const event = <Shape extends z.ZodRawShape>(shape: Shape) => ({
  durable: true as const,
  body: z.object(shape),
});
const live = <Shape extends z.ZodRawShape>(shape: Shape) => ({
  durable: false as const,
  body: z.object(shape),
});

export const AgentRef = z.object({ id: z.string(), name: z.string() });
export type AgentRef = z.infer<typeof AgentRef>;

export const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** How full the model's context is. */
export const ContextUse = z.object({
  /** instructions, tools and conversation, as the next request would carry them */
  tokens: z.number(),
  limit: z.number(),
  items: z.number(),
  strategy: z.enum(['threshold', 'none']),
});
export type ContextUse = z.infer<typeof ContextUse>;

/** What a person is shown before a call may run. */
export const Ask = z.object({
  /** what kind of side effect; the approval mode decides on it */
  kind: z.enum(['command', 'edit', 'browser', 'other']),
  /** the exact command, or [tool, argument…] */
  command: z.array(z.string()),
  /** the patch, where the call is one */
  patch: z.string().optional(),
  /** existing files that the patch replaces as a whole */
  replaces: z.array(z.string()).optional(),
  /** in a sentence or two */
  description: z.string(),
  /** what "always" would grant; absent where a standing grant would be too wide */
  grant: z.string().optional(),
});
export type Ask = z.infer<typeof Ask>;

/** What runs unasked. */
export const ApprovalMode = z.enum(['suggest', 'auto-edit', 'full-auto']);
export type ApprovalMode = z.infer<typeof ApprovalMode>;

export const ApprovalAnswer = z.enum(['once', 'always', 'deny']);
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** How a call came out. `unknown`: the process died while it ran; it was not repeated. */
export const Outcome = z.enum(['ok', 'failed', 'denied', 'aborted', 'unknown']);
export type Outcome = z.infer<typeof Outcome>;

export const InputMode = z.enum(['queue', 'supersede']);
export type InputMode = z.infer<typeof InputMode>;

/** What a vendor wants back with the next prompt (a signature, an encrypted item). We never look inside. */
export const Sealed = z.object({ provider: z.string(), data: JsonValue });
export type Sealed = z.infer<typeof Sealed>;

/** A call that a person asks for by name, without the model. */
export const DirectCall = z.object({ tool: z.string(), input: z.record(z.string(), JsonValue) });
export type DirectCall = z.infer<typeof DirectCall>;

export const EVENTS = {
  'session.created': event({
    dialect: z.string(),
    /** false where the client gave no name and cannot come back by one */
    named: z.boolean(),
    domain: z.string(),
    agent: AgentRef,
  }),
  /** The conversation so far is no longer part of the context. The events stay. */
  'session.cleared': event({ by: z.string() }),

  /** An input is replaced: it and what came after it are no longer part of the context. The events stay. */
  'session.rewound': event({
    input: InputId,
    /** the number of the event with which that input was accepted */
    from: z.number(),
    by: z.string(),
  }),
  /** From now on other than the server would have it; null: as the server has it. */
  'session.configured': event({
    model: z.string().nullable().optional(),
    approval: ApprovalMode.nullable().optional(),
    agent: AgentRef.optional(),
    by: z.string(),
  }),

  'session.renamed': event({
    title: z.string(),
    by: z.string(),
    /** made from what the session is about, and not chosen by anyone */
    automatic: z.boolean().optional(),
  }),
  /** Archived sessions are kept and can be read; lists leave them out. */
  'session.archived': event({ by: z.string() }),
  /** Words that a client sets beside a session, to find it by. */
  'session.labelled': event({ labels: z.record(z.string(), z.string()) }),

  'input.accepted': event({
    input: InputId,
    parts: z.array(Part),
    dialect: z.string(),
    via: ConnectionId.optional(),
    key: z.string().optional(),
    call: DirectCall.optional(),
    /** what came with the words for programs to read; a model is not shown it */
    data: z.record(z.string(), JsonValue).optional(),
    /** who is to answer, where it is not the session's agent */
    agent: AgentRef.optional(),
  }),

  'turn.started': event({ turn: TurnId, input: InputId, agent: AgentRef }),
  /** The process died inside the turn, or could record nothing; the step that was not finished is asked again. */
  'turn.resumed': event({ turn: TurnId }),
  'turn.ended': event({ turn: TurnId, usage: Usage, durationMs: z.number(), context: ContextUse }),
  'turn.failed': event({
    turn: TurnId,
    fault: FaultData,
    durationMs: z.number(),
    context: ContextUse.optional(),
  }),
  'turn.cancelled': event({
    turn: TurnId,
    reason: z.enum(['cancelled', 'superseded', 'denied']),
    context: ContextUse.optional(),
  }),

  'agent.changed': event({ turn: TurnId, from: AgentRef, to: AgentRef, reason: z.string() }),

  /** `interrupted`: the turn was cancelled inside the block; the text is what was shown until then. */
  'reasoning.ended': event({
    turn: TurnId,
    block: BlockId,
    text: z.string(),
    durationMs: z.number(),
    interrupted: z.boolean().optional(),
    sealed: Sealed.optional(),
  }),
  'text.ended': event({
    turn: TurnId,
    block: BlockId,
    text: z.string(),
    interrupted: z.boolean().optional(),
  }),
  /** The model's answer broke off or did not begin, and is asked for again: what the step has said so far is void. */
  'step.restarted': event({
    turn: TurnId,
    attempt: z.number(),
    delayMs: z.number(),
    fault: FaultData,
    /** who is asked: host and port of its address, where it has one */
    host: z.string().optional(),
    /** something of the step had been shown */
    shown: z.boolean().optional(),
  }),
  /** One answer of the model is complete: its blocks and calls are the events before this one. */
  'step.ended': event({
    turn: TurnId,
    usage: Usage,
    stop: z.enum(['done', 'calls', 'length', 'refused']),
    /** the usage is the vendor's own count */
    counted: z.boolean().optional(),
    /** our own count of what the vendor counted */
    estimate: z.number().optional(),
  }),

  'call.requested': event({
    turn: TurnId,
    call: CallId,
    tool: z.string(),
    input: z.record(z.string(), JsonValue),
    /** what the model wrote where that was not JSON; the input is then empty and the call fails */
    malformed: z.string().optional(),
    sealed: Sealed.optional(),
  }),
  'approval.requested': event({
    turn: TurnId,
    call: CallId,
    approval: ApprovalId,
    ask: Ask,
    /** over exactly what is shown; an answer may cite it */
    hash: z.string(),
  }),
  'approval.explained': event({ turn: TurnId, approval: ApprovalId, text: z.string() }),
  'approval.answered': event({
    turn: TurnId,
    call: CallId,
    approval: ApprovalId,
    answer: ApprovalAnswer,
    by: z.string(),
    dialect: z.string(),
    reason: z.string().optional(),
    /** the words in which it was answered, where it was answered by a message */
    said: z.string().optional(),
    /** the standing grant that "always" made */
    grant: z.string().optional(),
  }),
  /** Comes before the side effect. */
  'tool.started': event({ turn: TurnId, call: CallId }),
  /** A client that comes and goes carries the call out: the session rests until it says what came of it. */
  'call.deferred': event({
    turn: TurnId,
    call: CallId,
    /** the call also shows the user something, such as the progress of a plan */
    notice: z.boolean().optional(),
  }),
  'tool.ended': event({
    turn: TurnId,
    call: CallId,
    outcome: Outcome,
    parts: z.array(Part),
    /** the result as data, where the tool has one */
    data: z.record(z.string(), JsonValue).optional(),
    durationMs: z.number(),
    /** it carries untrusted content; standing grants do not count for the rest of the turn */
    untrusted: z.boolean().optional(),
    /** the user's words, where the outcome is what the user was asked for */
    said: z.string().optional(),
    /** the call was the end of what the agent wanted: the turn ends with it */
    final: z.boolean().optional(),
    /** the call shows the user something, such as a plan */
    notice: z.boolean().optional(),
  }),
  /** A standing grant was taken back. */
  'grant.revoked': event({ grant: z.string(), by: z.string() }),

  'context.compacted': event({
    summary: z.string(),
    oldTokens: z.number(),
    newTokens: z.number(),
    /** our own count of what is left, where `newTokens` continues a vendor's */
    estimate: z.number().optional(),
    strategy: z.enum(['threshold', 'none']),
    /** turns that started before this event are no longer in the context */
    keepFrom: z.number(),
    /** the first event that a reader needs to build the context again */
    readFrom: z.number(),
  }),

  /** The session and all its events are gone; one that begins under its name begins at 1. */
  'session.erased': live({ by: z.string() }),
  'reasoning.delta': live({ turn: TurnId, block: BlockId, text: z.string() }),
  'text.delta': live({ turn: TurnId, block: BlockId, text: z.string() }),
  /** Progress of a call that runs at a client. */
  'call.progress': live({
    call: CallId,
    execution: z.string(),
    status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
    progress: z.number().optional(),
    message: z.string().optional(),
  }),
};

type Events = typeof EVENTS;
export type EventType = keyof Events;
export type DurableEventType = { [T in EventType]: Events[T]['durable'] extends true ? T : never }[EventType];
export type EphemeralEventType = Exclude<EventType, DurableEventType>;

type BodyOf<T extends EventType> = { type: T } & z.infer<Events[T]['body']>;
/** `id` and `at` (milliseconds) are given once, where the event is made: every projection takes them from here. */
type Envelope = { session: SessionId; id: string; at: number };

/** An event that is decided but not yet numbered. */
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

export const isDurable = (event: SessionEvent): event is DurableEvent => 'seq' in event;

const Head = z.object({
  session: SessionId,
  id: z.string(),
  at: z.number(),
  seq: z.number().int().positive(),
});

/** Reads an event from disk. Throws where it is not one: a foreign or damaged log must not be guessed at. */
export function parseDurableEvent(value: unknown): DurableEvent {
  const type = (value as { type?: unknown } | null)?.type;
  const known =
    typeof type === 'string' && Object.hasOwn(EVENTS, type) ? EVENTS[type as EventType] : undefined;
  if (!known?.durable) throw new Error(`not an event: ${String(type)}`);
  return { ...Head.parse(value), type, ...known.body.parse(value) } as DurableEvent;
}
