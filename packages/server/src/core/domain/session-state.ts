/**
 * A session's state, and what an event changes of it (`evolve`); what a command means in it is said in `decide.ts`.
 * Both are pure. The state is small: history belongs to the log and to `context.ts`.
 */
import {
  type AgentRef,
  type ApprovalId,
  type ApprovalMode,
  type Ask,
  type CallId,
  type ConnectionId,
  type DirectCall,
  type DurableEvent,
  type InputId,
  type JsonObject,
  type Part,
  type TurnId,
  textOf,
  type Usage,
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
  | { readonly phase: 'waiting'; readonly approval: ApprovalId; readonly ask: Ask; readonly hash: string }
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
const REMEMBERED = 256;
const TITLE_LENGTH = 80;
const FIRST_INPUT_LENGTH = 2_000;
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

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

export const waitingCall = (state: SessionState): WaitingCall | undefined =>
  state.turn?.calls.find((call): call is WaitingCall => call.phase === 'waiting');

/** The call that a client carries out. */
export const deferredCall = (state: SessionState): OpenCall | undefined =>
  state.turn?.calls.find((call) => call.phase === 'deferred');

export function statusOf(state: SessionState): SessionStatus {
  if (waitingCall(state) || deferredCall(state)) return 'waiting';
  if (!atRest(state)) return 'running';
  return state.failed ? 'failed' : 'idle';
}

/** The state after one more event. */
export function evolve(before: SessionState, event: DurableEvent): SessionState {
  const state = { ...before, seq: event.seq, updatedAt: event.at };
  switch (event.type) {
    case 'session.created': {
      const { dialect, named, domain, agent, at } = event;
      return { ...state, created: { dialect, named, domain, at }, agent };
    }
    case 'session.cleared':
      // Inputs that still wait were accepted before this event: a reader of the context needs them.
      return {
        ...state,
        title: '',
        renamed: false,
        firstInput: '',
        readFrom: state.queue.length === 0 ? event.seq : state.readFrom,
        cutAt: event.seq,
      };
    case 'input.accepted': {
      const { input, via, call, key, agent } = event;
      return {
        ...state,
        messageCount: state.messageCount + 1,
        archived: false,
        title: state.title || titleOf(firstLine(event.parts)),
        firstInput: state.firstInput || firstLine(event.parts).slice(0, FIRST_INPUT_LENGTH).toWellFormed(),
        queue: state.queue.concat({ input, via, call, agent }),
        keys: key === undefined ? state.keys : [...state.keys, { key, seq: event.seq }].slice(-REMEMBERED),
      };
    }
    case 'turn.started': {
      const input = state.queue.find((queued) => queued.input === event.input);
      const turn: Turn = {
        id: event.turn,
        agent: event.agent,
        via: input?.via,
        startedAt: event.at,
        began: event.seq,
        usage: NO_USAGE,
        steps: 0,
        tainted: false,
        gaveUp: false,
        calls: [],
        answered: input?.call !== undefined,
      };
      return { ...state, turn, failed: false, queue: state.queue.filter((queued) => queued !== input) };
    }
    case 'turn.ended':
      return finish(state, event.turn, !state.turn?.gaveUp);
    case 'turn.cancelled':
      return finish(state, event.turn, false);
    case 'turn.failed':
      return { ...finish(state, event.turn, false), failed: true };
    case 'agent.changed':
      return inTurn({ ...state, agent: event.to }, (turn) => ({ ...turn, agent: event.to }));
    case 'step.ended':
      return inTurn(state, (turn) => ({
        ...turn,
        steps: turn.steps + 1,
        usage: addUsage(turn.usage, event.usage),
        answered: turn.calls.length === 0,
      }));
    case 'call.requested': {
      const { call, tool, input, malformed } = event;
      return inTurn(state, (turn) => ({
        ...turn,
        calls: [...turn.calls, { call, tool, input, malformed, phase: 'requested' }],
      }));
    }
    case 'approval.requested': {
      const { approval, ask, hash } = event;
      return withCall({ ...state, messageCount: state.messageCount + 1 }, event.call, (call) => ({
        ...base(call),
        phase: 'waiting',
        approval,
        ask,
        hash,
      }));
    }
    case 'approval.answered': {
      const heard = event.said === undefined ? state : { ...state, messageCount: state.messageCount + 1 };
      const granted = event.grant
        ? { ...heard, grants: [...new Set([...state.grants, event.grant])] }
        : heard;
      return withCall(granted, event.call, (call) => ({ ...base(call), phase: 'allowed' }));
    }
    case 'grant.revoked':
      return { ...state, grants: state.grants.filter((grant) => grant !== event.grant) };
    case 'tool.started':
      return withCall(state, event.call, (call) => ({ ...base(call), phase: 'running' }));
    case 'call.deferred':
      return withCall(
        { ...state, messageCount: state.messageCount + (event.notice ? 2 : 1) },
        event.call,
        (call) => ({
          ...base(call),
          phase: 'deferred',
        }),
      );
    case 'tool.ended': {
      const words = event.final || event.said !== undefined ? 1 : 0;
      const messageCount = state.messageCount + words + (event.notice ? 1 : 0);
      return inTurn({ ...state, messageCount }, (turn) => ({
        ...turn,
        answered: turn.answered || event.final === true,
        gaveUp: event.final === true && event.outcome !== 'ok',
        tainted: turn.tainted || event.untrusted === true,
        calls: turn.calls.filter((call) => call.call !== event.call),
      }));
    }
    case 'context.compacted':
      return { ...state, readFrom: event.readFrom, cutAt: event.seq };
    case 'session.configured':
      return {
        ...state,
        model: event.model === undefined ? state.model : event.model,
        approvalMode: event.approval === undefined ? state.approvalMode : event.approval,
        agent: event.agent ?? state.agent,
      };
    case 'session.renamed':
      return { ...state, title: event.title, renamed: event.automatic !== true };
    case 'session.archived':
      return { ...state, archived: true };
    case 'session.labelled':
      return { ...state, labels: { ...state.labels, ...event.labels } };
    case 'text.ended':
      return event.text === '' ? state : { ...state, messageCount: state.messageCount + 1 };
    case 'session.rewound':
    case 'turn.resumed':
    case 'step.restarted':
    case 'reasoning.ended':
    case 'approval.explained':
      return state;
  }
}

const finish = (state: SessionState, turn: TurnId, ok: boolean): SessionState => ({
  ...state,
  turn: null,
  finished: [...state.finished, { turn, ok }].slice(-REMEMBERED),
});

const base = ({ call, tool, input }: OpenCall) => ({ call, tool, input });

const inTurn = (state: SessionState, change: (turn: Turn) => Turn): SessionState =>
  state.turn ? { ...state, turn: change(state.turn) } : state;

const withCall = (state: SessionState, id: CallId, change: (call: OpenCall) => OpenCall): SessionState =>
  inTurn(state, (turn) => ({
    ...turn,
    calls: turn.calls.map((call) => (call.call === id ? change(call) : call)),
  }));

export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0) || undefined,
  reasoningTokens: (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0) || undefined,
});

/** What follows the first part is material. */
const firstLine = (parts: readonly Part[]): string => textOf(parts.slice(0, 1));

const titleOf = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`;
};
