/**
 * The state of a session: `evolve.ts` applies events to it, `decide.ts` decides commands on it, and
 * `next-action.ts` derives the next action from it. It is small: history belongs to the log and to
 * `context.ts`.
 */
import {
  type AgentRef,
  type Amount,
  type Answers,
  type ApprovalId,
  type ApprovalMode,
  type Ask,
  type CallId,
  type ChildRef,
  type ConnectionId,
  type Delegation,
  type DirectCall,
  type DurableEvent,
  type Fallback,
  type InputId,
  type JsonObject,
  NOTHING_SPENT,
  type ParentRef,
  type ProjectFile,
  type Question,
  type QuestionId,
  type QuestionOutcome,
  type ReportTo,
  type SessionId,
  type SessionSummary,
  type Spent,
  type TurnId,
  type TurnOptions,
  type Usage,
} from '@parlance/protocol';
import type { SessionStatus } from '../ports/event-store.ts';
import type { ToolContext } from '../ports/tool.ts';

export type OpenCall = {
  /** the arguments as the model wrote them, if they are not JSON */
  readonly malformed?: string;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  /** the sub-agent that executes it */
  readonly child?: Delegation;
} & (
  | { readonly phase: 'requested' }
  | {
      readonly phase: 'waiting';
      readonly approval: ApprovalId;
      readonly ask: Ask;
      readonly hash: string;
      /** when it was requested, or became the oldest pending one after another was answered */
      readonly requestedAt: number;
      /** number of the event that requested the approval */
      readonly seq: number;
      /** the sub-agent that asks: `child`, or one below it */
      readonly from?: ChildRef;
    }
  | {
      readonly phase: 'allowed';
      /** the answer that a call continues with which has asked the user */
      readonly answer?: NonNullable<ToolContext['answer']>;
    }
  | { readonly phase: 'running'; readonly definition?: string | undefined }
  /** a client executes it, however late */
  | { readonly phase: 'deferred' }
  /** it waits for the answer to its question */
  | { readonly phase: 'asking' }
  /** a sub-agent works on it */
  | { readonly phase: 'delegated' }
);

/** A question that waits for its answer. */
export type OpenQuestion = Omit<DurableEvent<'question.asked'>, 'type' | 'session' | 'id'>;

/** How a question of the turn itself ended, for the part of the server that asked. */
export type SettledQuestion = Pick<Question, 'question' | 'purpose' | 'data'> & {
  readonly outcome: QuestionOutcome;
  readonly by: string;
  readonly answers?: Answers | undefined;
};

export type Turn = {
  readonly id: TurnId;
  readonly agent: AgentRef;
  readonly via: ConnectionId | undefined;
  readonly startedAt: number;
  /** number of its first event */
  readonly began: number;
  readonly usage: Usage;
  /** all model calls that are counted for it, its steps and others */
  readonly spent: Spent;
  /** id of the API key that sent its input */
  readonly apiKey?: string | undefined;
  readonly steps: number;
  /** calls without an outcome yet, in order of request */
  readonly calls: readonly OpenCall[];
  /** whether the agent has given up */
  readonly gaveUp: boolean;
  /** whether the turn is complete, so that the model is not called again */
  readonly answered: boolean;
  /** options that its caller set for this turn only */
  readonly terms: TurnOptions;
  /** those that wait for an answer, in order */
  readonly questions: readonly OpenQuestion[];
  /** questions of the turn itself that have ended, in order */
  readonly settled: readonly SettledQuestion[];
  /** the model that answers instead of the first one of the chain */
  readonly fallback?: Fallback | undefined;
  /** the call of the parent that it is for */
  readonly reportTo?: ReportTo;
};

export type QueuedInput = {
  readonly input: InputId;
  readonly via: ConnectionId | undefined;
  readonly call: DirectCall | undefined;
  readonly agent: AgentRef | undefined;
  /** options that its caller set for the turn, if any */
  readonly terms?: TurnOptions;
  /** id of its turn; absent if an older version queued it: the turn then uses the id of the input */
  readonly turn?: TurnId;
  /** the turn that it joins, unless that ends first */
  readonly joins?: TurnId;
  readonly reportTo?: ReportTo;
  /** it is from a sub-agent */
  readonly child?: true;
  /** id of the API key that sent it */
  readonly apiKey?: string | undefined;
};

/** A sub-agent of the session. */
export type Child = {
  readonly session: SessionId;
  readonly path: readonly string[];
  /** the turn of the call that it last worked for */
  readonly turn: TurnId;
  /** `stopped`: on behalf of this session, which wants nothing of it any more */
  readonly state: 'working' | 'stopping' | 'stopped' | 'done';
  readonly background: boolean;
  /** its turn whose outcome came last */
  readonly last?: TurnId;
};

export type SessionState = SessionSummary & {
  readonly seq: number;
  readonly created: {
    readonly dialect: string;
    readonly named: boolean;
    readonly domain: string;
    readonly at: number;
    readonly ephemeral?: true;
    /** working folder of its tools; the server's if absent */
    readonly cwd?: string;
    /** if it is a sub-agent */
    readonly parent?: ParentRef;
    /** its tools work in a copy of the folder */
    readonly worktree?: true;
  } | null;
  /** whether a user chose the title */
  readonly renamed: boolean;
  /** beginning of the first input; empty if there is none */
  readonly firstInput: string;
  readonly updatedAt: number;
  readonly queue: readonly QueuedInput[];
  readonly turn: Turn | null;
  readonly failed: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** finished turns and whether they succeeded, latest last */
  readonly finished: readonly { readonly turn: TurnId; readonly ok: boolean }[];
  /** standing grants of this session */
  readonly grants: readonly string[];
  /** idempotency keys of inputs, latest last */
  readonly keys: readonly { readonly key: string; readonly seq: number }[];
  /** null for the server's default */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
  /** the files of the working folder that are instructions, and those that are not; absent if it never had any */
  readonly instructions?: readonly ProjectFile[];
  /** first event that the context is built from */
  readonly readFrom: number;
  /** last event that cleared or compacted the context */
  readonly cutAt: number;
  /** files are being restored; no turn runs meanwhile */
  readonly rewinding?: FileRewind | undefined;
  /** the rewind of the conversation that can be undone: nothing was added since */
  readonly rewound?: { readonly rewind: string; readonly from: number } | undefined;
  /** its sub-agents, the one that was last called upon last; absent if there were none */
  readonly children?: readonly Child[];
  /** of a sub-agent: ended turns whose outcome the parent does not have yet */
  readonly outcomes?: readonly { readonly turn: TurnId; readonly reportTo: ReportTo }[];
  /** of a sub-agent: the approval or question that the parent shows */
  readonly told?: string | null;
  /** all model calls of the session */
  readonly spent: Spent;
  /** above it, a turn asks before its next step */
  readonly limit: Amount | null;
  /** limits of which use was announced, latest last: see `announcementOf` */
  readonly announced: readonly string[];
};

export type FileRewind = Pick<
  DurableEvent<'rewind.started'>,
  'rewind' | 'from' | 'undoes' | 'overwrite' | 'by'
>;

/** Increment when the state changes its shape or meaning; `checkpoint.ts` reads older checkpoints. */
export const STATE_VERSION = 12;

export const initialState = (agent: AgentRef): SessionState => ({
  seq: 0,
  created: null,
  agent,
  title: '',
  renamed: false,
  firstInput: '',
  updatedAt: 0,
  queue: [],
  turn: null,
  failed: false,
  archived: false,
  pinned: false,
  tags: [],
  labels: {},
  messageCount: 0,
  finished: [],
  grants: [],
  keys: [],
  model: null,
  approvalMode: null,
  readFrom: 0,
  cutAt: 0,
  spent: NOTHING_SPENT,
  limit: null,
  announced: [],
});

export const isIdle = (state: SessionState): boolean =>
  state.turn === null && state.queue.length === 0 && !state.rewinding;

export type WaitingCall = Extract<OpenCall, { phase: 'waiting' }>;

/** Calls that wait for approval, oldest request first. */
export const waitingCalls = (state: SessionState): WaitingCall[] =>
  (state.turn?.calls ?? [])
    .filter((call): call is WaitingCall => call.phase === 'waiting')
    .sort((a, b) => a.seq - b.seq);

/** The call with that approval; without an id, the oldest one. */
export const waitingCall = (state: SessionState, approval?: ApprovalId): WaitingCall | undefined =>
  waitingCalls(state).find((call) => approval === undefined || call.approval === approval);

/** Calls that clients execute, in order of request. */
export const deferredCalls = (state: SessionState): OpenCall[] =>
  (state.turn?.calls ?? []).filter((call) => call.phase === 'deferred');

/** The question with that id; without an id, the oldest one. */
export const openQuestion = (
  { turn }: Pick<SessionState, 'turn'>,
  question?: QuestionId,
): OpenQuestion | undefined =>
  turn?.questions.find((open) => question === undefined || open.question === question);

/** The question that a message answers: the oldest one, unless an older approval waits, which clients show first. */
export function questionForMessage(state: SessionState): OpenQuestion | undefined {
  const question = openQuestion(state);
  const approval = waitingCall(state);
  return question && approval && approval.seq < question.seq ? undefined : question;
}

/** The id of the approval or question that lists show: the oldest one. */
export const pendingId = (state: SessionState): string | null =>
  questionForMessage(state)?.question ?? waitingCall(state)?.approval ?? null;

/**
 * Whether the open calls continue only after a person or a client answers. Calls that have not been planned
 * yet come after a waiting one: otherwise they would have been started or requested with it. True only after
 * a complete append: one of its later events can start another call.
 */
export const awaitsAnswer = (calls: readonly { readonly phase: OpenCall['phase'] | 'writing' }[]): boolean =>
  calls.some(({ phase }) => phase === 'waiting' || phase === 'deferred' || phase === 'asking') &&
  !calls.some(({ phase }) => phase === 'running' || phase === 'allowed' || phase === 'delegated');

/** Whether nothing can be done for the turn before a person or a client answers. */
export const isBlocked = ({ calls, questions }: Turn): boolean =>
  calls.length > 0 ? awaitsAnswer(calls) : questions.length > 0;

/** Like `isBlocked`, but the answer may also be that of a sub-agent: nothing is to be done here. */
export const isParked = ({ calls, questions }: Turn): boolean =>
  calls.length > 0
    ? calls.some(({ phase }) => PARKED.has(phase)) &&
      !calls.some(({ phase }) => phase === 'running' || phase === 'allowed')
    : questions.length > 0;

const PARKED: ReadonlySet<OpenCall['phase']> = new Set(['waiting', 'deferred', 'asking', 'delegated']);

/** Whether the parent does not know yet what the session waits for or has done. */
export const mustInform = (state: SessionState): boolean =>
  state.created?.parent !== undefined &&
  ((state.outcomes?.length ?? 0) > 0 || pendingId(state) !== (state.told ?? null));

/** Whether sub-agents must be stopped, or the parent informed. */
export const mustSettle = (state: SessionState): boolean =>
  state.children?.some((child) => child.state === 'stopping') === true || mustInform(state);

export function statusOf(state: SessionState): SessionStatus {
  if (mustSettle(state)) return 'running';
  if (state.turn && isParked(state.turn)) return 'waiting';
  if (!isIdle(state)) return 'running';
  return state.failed ? 'failed' : 'idle';
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0) || undefined,
  reasoningTokens: (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0) || undefined,
});
