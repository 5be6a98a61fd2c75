/**
 * The state of a session: events change it (`evolve.ts`), commands are decided on it (`decide.ts`), and the next action
 * follows from it (`next-action.ts`). The state is small: history belongs to the log and to `context.ts`.
 */
import type {
  AgentRef,
  ApprovalId,
  ApprovalMode,
  Ask,
  CallId,
  ConnectionId,
  DirectCall,
  InputId,
  JsonObject,
  TurnId,
  TurnTerms,
  Usage,
} from '@parlance/protocol';
import type { SessionStatus } from '../ports/event-store.ts';

export type OpenCall = {
  /** what the model wrote, if it was not JSON */
  readonly malformed?: string;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
} & (
  | { readonly phase: 'requested' }
  | {
      readonly phase: 'waiting';
      readonly approval: ApprovalId;
      readonly ask: Ask;
      readonly hash: string;
      /** when it was requested, or became the first of those that wait by the answer to another */
      readonly requestedAt: number;
      /** the number of the event that requested the approval */
      readonly seq: number;
    }
  | { readonly phase: 'allowed' }
  | { readonly phase: 'running' }
  /** a client carries it out, however late */
  | { readonly phase: 'deferred' }
);

export type Turn = {
  readonly id: TurnId;
  readonly agent: AgentRef;
  readonly via: ConnectionId | undefined;
  readonly startedAt: number;
  /** the number of its first event */
  readonly began: number;
  readonly usage: Usage;
  readonly steps: number;
  /** calls without an outcome yet, in the order of their requests */
  readonly calls: readonly OpenCall[];
  /** the turn contains untrusted content: standing grants do not apply */
  readonly tainted: boolean;
  /** the agent has given up */
  readonly gaveUp: boolean;
  /** the model is not called again */
  readonly answered: boolean;
  /** what its caller wants for this turn alone */
  readonly terms: TurnTerms;
};

export type QueuedInput = {
  readonly input: InputId;
  readonly via: ConnectionId | undefined;
  readonly call: DirectCall | undefined;
  readonly agent: AgentRef | undefined;
  /** what its caller wants for the turn; absent if nothing */
  readonly terms?: TurnTerms;
  /** the id of its turn; absent if an older version has queued it: the turn then has the id of the input */
  readonly turn?: TurnId;
};

export type SessionState = {
  readonly seq: number;
  readonly created: {
    readonly dialect: string;
    readonly named: boolean;
    readonly domain: string;
    readonly at: number;
    readonly ephemeral?: true;
    /** the folder that its tools work in; absent: the server's */
    readonly cwd?: string;
  } | null;
  readonly agent: AgentRef;
  readonly title: string;
  /** a user chose the title */
  readonly renamed: boolean;
  /** the beginning of the first input; empty if there is none yet */
  readonly firstInput: string;
  readonly updatedAt: number;
  readonly queue: readonly QueuedInput[];
  readonly turn: Turn | null;
  readonly failed: boolean;
  readonly archived: boolean;
  readonly pinned: boolean;
  /** sorted */
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** inputs, texts, approvals, spoken answers, deferred calls, notices and final calls */
  readonly messageCount: number;
  /** finished turns and whether they succeeded, the latest last */
  readonly finished: readonly { readonly turn: TurnId; readonly ok: boolean }[];
  /** standing grants of this session */
  readonly grants: readonly string[];
  /** idempotency keys of inputs, the latest last */
  readonly keys: readonly { readonly key: string; readonly seq: number }[];
  /** null for the server's */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
  /** the first event that the context is built from */
  readonly readFrom: number;
  /** the last event that cleared or compacted the context */
  readonly cutAt: number;
};

/** Raised when the state changes its shape or its meaning; `checkpoint.ts` reads older checkpoints. */
export const STATE_VERSION = 11;

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
});

export const atRest = (state: SessionState): boolean => state.turn === null && state.queue.length === 0;

export type WaitingCall = Extract<OpenCall, { phase: 'waiting' }>;

/** The calls that wait for a person, the one that was asked for first in front. */
export const waitingCalls = (state: SessionState): WaitingCall[] =>
  (state.turn?.calls ?? [])
    .filter((call): call is WaitingCall => call.phase === 'waiting')
    .sort((a, b) => a.seq - b.seq);

/** The call with that approval; without an id, the one requested first. */
export const waitingCall = (state: SessionState, approval?: ApprovalId): WaitingCall | undefined =>
  waitingCalls(state).find((call) => approval === undefined || call.approval === approval);

/** The calls that clients carry out, in the order of their requests. */
export const deferredCalls = (state: SessionState): OpenCall[] =>
  (state.turn?.calls ?? []).filter((call) => call.phase === 'deferred');

/**
 * Whether the open calls continue only when a person or a client answers. Calls that were not considered yet are
 * behind a waiting one: otherwise they would have been started or requested with it.
 */
export const awaitsAnswer = ({ calls }: Turn): boolean =>
  calls.some(({ phase }) => phase === 'waiting' || phase === 'deferred') &&
  !calls.some(({ phase }) => phase === 'running' || phase === 'allowed');

export function statusOf(state: SessionState): SessionStatus {
  if (state.turn && awaitsAnswer(state.turn)) return 'waiting';
  if (!atRest(state)) return 'running';
  return state.failed ? 'failed' : 'idle';
}
