/**
 * Types of a session view. Views are immutable and share structure: what an event did not touch stays the same object.
 * Each item has the seqs of the events it was folded from.
 */
import type {
  AgentRef,
  Amount,
  ApprovalMode,
  BlockId,
  CallId,
  ContextUse,
  Delegation,
  DurableEvent,
  DurableEventType,
  EphemeralEvent,
  FaultData,
  HistoryItem,
  InputId,
  JsonObject,
  LimitUse,
  ParentRef,
  ProjectFile,
  QuestionOutcome,
  RewoundFiles,
  SessionId,
  Spent,
  TurnId,
  Usage,
} from '@parlance/protocol';

export type SessionView = {
  /** seq of the last event folded: the `after` to continue with */
  readonly seq: number;
  readonly session: SessionId | null;
  /** null until `session.created` was folded */
  readonly created: CreatedView | null;
  readonly title: string;
  /** null: the server's default */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
  readonly agent: AgentRef | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly archived: boolean;
  readonly pinned: boolean;
  /** sorted */
  readonly tags: readonly string[];
  /** who erased the session; null if it exists */
  readonly erasedBy: string | null;
  readonly status: 'idle' | 'running' | 'waiting' | 'failed';
  /** turns and the entries between them, in order */
  readonly entries: readonly Entry[];
  /** inputs whose turn has not started, in order */
  readonly queued: readonly InputView[];
  /** the pending approval: the same object as in its call */
  readonly pending: ApprovalView | null;
  readonly plan: PlanView | null;
  /** standing grants */
  readonly grants: readonly string[];
  /**
   * Earlier versions of the conversation from an input on that replaced another, oldest first, by the id of
   * that input.
   */
  readonly versions: Readonly<Record<InputId, readonly Version[]>>;
  /** versions of the input that is about to be replaced */
  readonly replacing: readonly Version[] | null;
  /** of all steps of all turns */
  readonly usage: Usage;
  /** files of the working folder that are instructions or skills, and those that nobody has accepted */
  readonly instructions: readonly ProjectFile[];
  /** all model calls, also those for titles and summaries; `cost` is in millionths of a US dollar */
  readonly spent: Spent;
  /** above it, a turn asks before its next step */
  readonly limit: Amount | null;
  /** context use after the last turn or compaction */
  readonly context: ContextUse | null;
};

/** The entries from an input on, until it was replaced. */
export type Version = readonly Entry[];

export type CreatedView = {
  readonly dialect: string;
  readonly domain: string;
  readonly named: boolean;
  readonly at: number;
  /** the folder that its tools work in; absent: the working directory of the server */
  readonly cwd?: string;
  /** the session is erased after a period without use */
  readonly ephemeral?: true;
  /** if it is a sub-agent: the session that started it, and the names that lead to it */
  readonly parent?: Pick<ParentRef, 'session' | 'path'>;
};

type Numbered = { readonly at: number; readonly seqs: readonly number[] };

/** Fields of an event, which the view has as they are. */
type Of<Type extends DurableEventType, Name extends keyof DurableEvent<Type>> = Readonly<
  Pick<DurableEvent<Type>, Name>
>;

export type Entry = TurnView | HistoryView | ClearedView | CompactionView | RewoundView;

/** Part of an imported conversation: a user message, if it begins with one, and the items that follow it. */
export type HistoryView = Numbered & {
  readonly kind: 'history';
  /** id of the user message, for `replaces` of an input */
  readonly input: InputId | null;
  readonly items: readonly HistoryItem[];
  readonly dialect: string;
};

/** A rewind, or the undo of one. */
export type RewoundView = Numbered & {
  readonly kind: 'rewound';
  readonly rewind: string;
  /** the rewind that it undoes */
  readonly undoes: string | null;
  /** whether the conversation was rewound, or is as before again */
  readonly conversation: boolean;
  /** null if no files are restored, or not yet */
  readonly files: RewoundFiles | null;
  /** files are being restored */
  readonly isRestoring: boolean;
  readonly isUndone: boolean;
  readonly by: string;
};

export type ClearedView = Numbered & { readonly kind: 'cleared'; readonly by: string };

/** `key` is the idempotency key, which identifies the sender's own input. */
export type InputView = Numbered &
  Of<
    'input.accepted',
    'input' | 'parts' | 'dialect' | 'key' | 'call' | 'data' | 'agent' | 'answers' | 'turn' | 'joins' | 'child'
  > & {
    /** the turn that this input interrupted */
    readonly superseded: TurnId | null;
  };

export type TurnView = Numbered & {
  readonly kind: 'turn';
  readonly turn: TurnId;
  /** null if the view starts after it */
  readonly input: InputView | null;
  readonly agent: AgentRef;
  /** the session's model when the turn started; null: the agent's or the server's default */
  readonly model: string | null;
  /** the model that answers instead of the first one of its chain, if that is so */
  readonly fallback?: string;
  readonly items: readonly Item[];
  /** the block being streamed */
  readonly open: BlockId | null;
  /** calls that the model is writing; each becomes an item when it is complete */
  readonly writing: readonly WritingView[];
  readonly state: TurnState;
  readonly steps: number;
  readonly usage: Usage;
};

/** A call with the arguments written so far, which are JSON when complete. */
export type WritingView = { readonly call: CallId; readonly tool: string; readonly text: string };

export type TurnState =
  | { readonly status: 'running' }
  | {
      readonly status: 'ended';
      readonly durationMs: number;
      readonly context: ContextUse;
      /** the turn reached its limit of steps: the next message continues */
      readonly paused?: 'max_steps';
    }
  | { readonly status: 'failed'; readonly durationMs: number; readonly fault: FaultData }
  | { readonly status: 'cancelled'; readonly reason: 'cancelled' | 'superseded' | 'denied' };

export type Item =
  | BlockView
  | CallView
  | JoinedView
  | QuestionView
  | HandoffView
  | RestartView
  | ResumedView
  | InstructionsView
  | LimitView
  | CompactionView;

/** 80 % of a limit on money or tokens is used. */
export type LimitView = Numbered & { readonly kind: 'limit'; readonly limit: LimitUse };

/** An input that joined the turn: the model has read it from here on. */
export type JoinedView = InputView & { readonly kind: 'input' };

export type BlockView = Numbered & {
  readonly kind: 'text' | 'reasoning';
  readonly block: BlockId;
  readonly text: string;
  /** `interrupted`: the turn was stopped while it streamed */
  readonly state: 'open' | 'ended' | 'interrupted';
  /** of reasoning that has ended */
  readonly durationMs: number | null;
  /** index of the model's answer in the turn, from 0 */
  readonly step: number;
};

export type CallView = Numbered & {
  readonly kind: 'call';
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  /** the arguments as written by the model, if they were not JSON */
  readonly malformed?: string;
  readonly approval: ApprovalView | null;
  /** the sub-agent that executes it: a session of its own */
  readonly child?: Delegation;
  readonly state: CallState;
};

export type CallProgress = Pick<
  EphemeralEvent<'call.progress'>,
  'execution' | 'status' | 'progress' | 'message' | 'spent'
>;

export type CallState =
  | { readonly phase: 'requested' }
  /** approval pending */
  | { readonly phase: 'waiting' }
  | { readonly phase: 'allowed' }
  | { readonly phase: 'running'; readonly progress: CallProgress | null }
  /** executed by a client that may be disconnected in the meantime */
  | { readonly phase: 'deferred' }
  | (Of<
      'tool.ended',
      'outcome' | 'interrupted' | 'parts' | 'data' | 'durationMs' | 'said' | 'child' | 'app'
    > & {
      readonly phase: 'ended';
      /** contains untrusted content */
      readonly untrusted: boolean;
      readonly final: boolean;
    });

/** With `child`, a sub-agent asks, and it is answered here or there. */
export type ApprovalView = Numbered &
  Of<'approval.requested', 'approval' | 'turn' | 'call' | 'ask' | 'hash' | 'child'> &
  Of<'call.requested', 'tool' | 'input'> & {
    readonly explanations: readonly string[];
    readonly state: ApprovalState;
  };

export type ApprovalState =
  | { readonly status: 'pending' }
  | (Of<'approval.answered', 'answer' | 'by' | 'dialect' | 'at' | 'reason' | 'said' | 'grant'> & {
      readonly status: 'answered';
    })
  /** the call ended before anyone answered */
  | { readonly status: 'lapsed' };

/** A question to the user. */
export type QuestionView = Numbered &
  Of<
    'question.asked',
    'turn' | 'question' | 'call' | 'purpose' | 'title' | 'questions' | 'requires' | 'path'
  > & {
    readonly kind: 'question';
    /** why the last answer was not accepted */
    readonly problem: string | null;
    readonly state: QuestionState;
  };

export type QuestionState =
  | { readonly status: 'pending' }
  | (Of<'question.answered', 'answers' | 'by' | 'dialect' | 'at'> & { readonly status: QuestionOutcome })
  /** the call or the turn ended before anyone answered */
  | { readonly status: 'lapsed' };

export type HandoffView = Numbered &
  Of<'agent.changed', 'from' | 'to' | 'reason'> & { readonly kind: 'handoff' };

/** The model's answer was interrupted and requested again: the last attempt of its step. */
export type RestartView = Numbered &
  Of<'step.restarted', 'attempt' | 'delayMs' | 'fault' | 'fallback'> & { readonly kind: 'restart' };

/** The server restarted during the turn and resumed it. */
export type ResumedView = Numbered & { readonly kind: 'resumed' };

/** From here on, these files of the working folder are used as instructions, or not. */
export type InstructionsView = Numbered & {
  readonly kind: 'instructions';
  readonly files: readonly ProjectFile[];
};

export type CompactionView = Numbered &
  Of<'context.compacted', 'summary' | 'oldTokens' | 'newTokens'> & { readonly kind: 'compaction' };

export type PlanStep = { readonly step: string; readonly status: 'pending' | 'in_progress' | 'completed' };

export type PlanView = Numbered & {
  readonly steps: readonly PlanStep[];
  readonly explanation?: string;
};

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** The view before any event. */
export const EMPTY: SessionView = {
  seq: 0,
  session: null,
  created: null,
  title: '',
  model: null,
  approvalMode: null,
  agent: null,
  labels: {},
  archived: false,
  pinned: false,
  tags: [],
  versions: {},
  replacing: null,
  erasedBy: null,
  status: 'idle',
  entries: [],
  queued: [],
  pending: null,
  plan: null,
  grants: [],
  instructions: [],
  usage: NO_USAGE,
  spent: { tokens: 0, cost: 0 },
  limit: null,
  context: null,
};

export const newTurn = (
  started: { turn: TurnId; agent: AgentRef; at: number; seq: number },
  input: InputView | null,
  model: string | null,
): TurnView => ({
  kind: 'turn',
  turn: started.turn,
  input,
  agent: started.agent,
  model,
  items: [],
  open: null,
  writing: [],
  state: { status: 'running' },
  steps: 0,
  usage: NO_USAGE,
  at: started.at,
  seqs: [started.seq],
});
