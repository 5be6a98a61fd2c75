/**
 * What a chat shows of a session. Everything is immutable: what an event did not touch stays the same object, so that
 * a page renders only what has changed. Each item knows the numbers of the events it is made of.
 */
import type {
  AgentRef,
  ApprovalAnswer,
  ApprovalId,
  ApprovalMode,
  Ask,
  BlockId,
  CallId,
  ContextUse,
  DirectCall,
  EphemeralEvent,
  FaultData,
  InputId,
  JsonObject,
  Outcome,
  Part,
  SessionId,
  TurnId,
  Usage,
} from '@parlance/protocol';

export type SessionView = {
  /** the number of the last event in it: the `after` to go on with */
  readonly seq: number;
  readonly session: SessionId | null;
  /** null until the event of its beginning has come */
  readonly created: CreatedView | null;
  readonly title: string;
  /** where the session has its own */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
  readonly agent: AgentRef | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly archived: boolean;
  /** who has erased the session and all that was in it; null where it is there */
  readonly erasedBy: string | null;
  readonly status: 'idle' | 'running' | 'waiting' | 'failed';
  /** turns and what lies between them, in order */
  readonly entries: readonly Entry[];
  /** inputs whose turn has not begun, in order */
  readonly queued: readonly InputView[];
  /** the approval that waits for an answer: the same object as in its call */
  readonly pending: ApprovalView | null;
  readonly plan: PlanView | null;
  /** what "always" has allowed */
  readonly grants: readonly string[];
  /** of all steps of all turns */
  readonly usage: Usage;
  /** how full the model's context was when a turn last ended, or after it was last made smaller */
  readonly context: ContextUse | null;
};

export type CreatedView = {
  readonly dialect: string;
  readonly domain: string;
  readonly named: boolean;
  readonly at: number;
};

type Numbered = { readonly at: number; readonly seqs: readonly number[] };

export type Entry = TurnView | ClearedView | CompactionView;

export type ClearedView = Numbered & { readonly kind: 'cleared'; readonly by: string };

export type InputView = Numbered & {
  readonly input: InputId;
  readonly parts: readonly Part[];
  readonly dialect: string;
  /** what the sender made of it, to know its own input by */
  readonly key?: string;
  readonly call?: DirectCall;
  readonly data?: JsonObject;
  /** who was to answer, where it is not the session's agent */
  readonly agent?: AgentRef;
  /** the turn that it ended, where it was sent to interrupt one */
  readonly superseded: TurnId | null;
};

export type TurnView = Numbered & {
  readonly kind: 'turn';
  readonly turn: TurnId;
  /** null where the view begins after it */
  readonly input: InputView | null;
  readonly agent: AgentRef;
  /** the session's own model when the turn began; null: that of the agent or the server */
  readonly model: string | null;
  readonly items: readonly Item[];
  /** the block that is being streamed */
  readonly open: BlockId | null;
  readonly state: TurnState;
  readonly steps: number;
  readonly usage: Usage;
};

export type TurnState =
  | { readonly status: 'running' }
  | { readonly status: 'ended'; readonly durationMs: number; readonly context: ContextUse }
  | { readonly status: 'failed'; readonly durationMs: number; readonly fault: FaultData }
  | { readonly status: 'cancelled'; readonly reason: 'cancelled' | 'superseded' | 'denied' };

export type Item = BlockView | CallView | HandoffView | RestartView | ResumedView | CompactionView;

export type BlockView = Numbered & {
  readonly kind: 'text' | 'reasoning';
  readonly block: BlockId;
  readonly text: string;
  /** `interrupted`: the turn was stopped inside it */
  readonly state: 'open' | 'ended' | 'interrupted';
  /** of reasoning, when it has ended */
  readonly durationMs: number | null;
  /** which answer of the model it belongs to, from 0 */
  readonly step: number;
};

export type CallView = Numbered & {
  readonly kind: 'call';
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  /** what the model wrote where that was not JSON */
  readonly malformed?: string;
  readonly approval: ApprovalView | null;
  readonly state: CallState;
};

export type CallProgress = Pick<
  EphemeralEvent<'call.progress'>,
  'execution' | 'status' | 'progress' | 'message'
>;

export type CallState =
  | { readonly phase: 'requested' }
  /** a person has to answer */
  | { readonly phase: 'waiting' }
  | { readonly phase: 'allowed' }
  | { readonly phase: 'running'; readonly progress: CallProgress | null }
  /** a client that comes and goes carries it out */
  | { readonly phase: 'deferred' }
  | {
      readonly phase: 'ended';
      readonly outcome: Outcome;
      readonly parts: readonly Part[];
      readonly data?: JsonObject;
      readonly durationMs: number;
      /** it carries untrusted content */
      readonly untrusted: boolean;
      readonly said?: string;
      readonly final: boolean;
    };

export type ApprovalView = Numbered & {
  readonly approval: ApprovalId;
  readonly turn: TurnId;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ask: Ask;
  readonly hash: string;
  readonly explanations: readonly string[];
  readonly state: ApprovalState;
};

export type ApprovalState =
  | { readonly status: 'pending' }
  | {
      readonly status: 'answered';
      readonly answer: ApprovalAnswer;
      readonly by: string;
      readonly dialect: string;
      readonly at: number;
      readonly reason?: string;
      readonly said?: string;
      readonly grant?: string;
    }
  /** its call ended before anyone answered */
  | { readonly status: 'lapsed' };

export type HandoffView = Numbered & {
  readonly kind: 'handoff';
  readonly from: AgentRef;
  readonly to: AgentRef;
  readonly reason: string;
};

/** The model's answer broke off and was asked for again. */
export type RestartView = Numbered & {
  readonly kind: 'restart';
  readonly attempt: number;
  readonly delayMs: number;
  readonly fault: FaultData;
};

/** The server was restarted inside the turn, and the turn went on. */
export type ResumedView = Numbered & { readonly kind: 'resumed' };

export type CompactionView = Numbered & {
  readonly kind: 'compaction';
  readonly summary: string;
  readonly oldTokens: number;
  readonly newTokens: number;
};

export type PlanStep = { readonly step: string; readonly status: 'pending' | 'in_progress' | 'completed' };

export type PlanView = Numbered & {
  readonly steps: readonly PlanStep[];
  readonly explanation?: string;
};

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** A session of which nothing is known yet. */
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
  erasedBy: null,
  status: 'idle',
  entries: [],
  queued: [],
  pending: null,
  plan: null,
  grants: [],
  usage: NO_USAGE,
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
  state: { status: 'running' },
  steps: 0,
  usage: NO_USAGE,
  at: started.at,
  seqs: [started.seq],
});
