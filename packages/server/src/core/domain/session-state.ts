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
  Usage,
} from '@parlance/protocol';
import type { SessionStatus } from '../ports/event-store.ts';

export type OpenCall = {
  /** what the model wrote where that was not JSON */
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
  /** out at a client that comes and goes */
  | { readonly phase: 'deferred' }
);

export type Turn = {
  readonly id: TurnId;
  readonly agent: AgentRef;
  readonly via: ConnectionId | undefined;
  readonly startedAt: number;
  /** the number of the event with which it began */
  readonly began: number;
  readonly usage: Usage;
  readonly steps: number;
  /** calls that have no outcome yet, in the order in which they were asked for */
  readonly calls: readonly OpenCall[];
  /** untrusted content have come in: standing grants do not count any more */
  readonly tainted: boolean;
  /** the agent itself has said that it cannot be done */
  readonly gaveUp: boolean;
  /** nothing more is wanted of the model */
  readonly answered: boolean;
};

export type QueuedInput = {
  readonly input: InputId;
  readonly via: ConnectionId | undefined;
  readonly call: DirectCall | undefined;
  readonly agent: AgentRef | undefined;
};

export type SessionState = {
  readonly seq: number;
  readonly created: {
    readonly dialect: string;
    readonly named: boolean;
    readonly domain: string;
    readonly at: number;
  } | null;
  readonly agent: AgentRef;
  readonly title: string;
  /** somebody chose the title */
  readonly renamed: boolean;
  /** how the first input begins; empty until there is one */
  readonly firstInput: string;
  readonly updatedAt: number;
  readonly queue: readonly QueuedInput[];
  readonly turn: Turn | null;
  readonly failed: boolean;
  readonly archived: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** messages of either side: inputs, texts, approvals and answers to them in words, calls handed to a client, notices, and calls that were the end */
  readonly messageCount: number;
  /** turns that are over, and whether they did what was wanted; the latest last */
  readonly finished: readonly { readonly turn: TurnId; readonly ok: boolean }[];
  /** what "always" has allowed in this session */
  readonly grants: readonly string[];
  /** idempotency keys of inputs, the latest last */
  readonly keys: readonly { readonly key: string; readonly seq: number }[];
  /** where they are other than the server's */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
  /** the first fact that the context is built from */
  readonly readFrom: number;
  /** the last event that cleared or compacted the context */
  readonly cutAt: number;
};

/** Raised when the state changes its shape or counts differently; `checkpoint.ts` says what becomes of older checkpoints. */
export const STATE_VERSION = 10;

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

/** The call with that approval; without an id the one that was asked for first. */
export const waitingCall = (state: SessionState, approval?: ApprovalId): WaitingCall | undefined =>
  waitingCalls(state).find((call) => approval === undefined || call.approval === approval);

/** The first call that a client carries out. */
export const deferredCall = (state: SessionState): OpenCall | undefined =>
  state.turn?.calls.find((call) => call.phase === 'deferred');

/**
 * Whether the open calls go on only when a person or a client answers. Calls that were not looked at yet are behind
 * one of those that wait: otherwise they would have been started or asked for with it.
 */
export const awaitsAnswer = ({ calls }: Turn): boolean =>
  calls.some(({ phase }) => phase === 'waiting' || phase === 'deferred') &&
  !calls.some(({ phase }) => phase === 'running' || phase === 'allowed');

export function statusOf(state: SessionState): SessionStatus {
  if (state.turn && awaitsAnswer(state.turn)) return 'waiting';
  if (!atRest(state)) return 'running';
  return state.failed ? 'failed' : 'idle';
}
