/** Out: converts the events of a session to frames. */

import {
  type Ask,
  type DurableEvent,
  type EphemeralEvent,
  type Fault,
  type FaultCode,
  isDurable,
  isObject,
  isTurnEvent,
  type Json,
  LOCAL,
  limitNotice,
  type Outcome,
  type Principal,
  type QuestionContent,
  type SessionEvent,
  SessionId,
  textOf,
  wasStopped,
  writtenQuestion,
} from '@parlance/protocol';
import type { ClientProgress, ClientRequest, SessionSnapshot } from '../../core/index.ts';
import { retryText } from '../kit/faults.ts';
import { type Frame, NONE, nthId, type Projection, type StepResult, stampedId } from '../kit/projection.ts';
import { instructionsText, questionText, restartText, rewoundText, waitingText } from '../kit/texts.ts';
import {
  type Calls,
  NO_APPROVALS,
  NO_CALLS,
  newlyShown,
  type TrackedCall,
  trackApprovals,
  trackCalls,
  type WaitingApprovals,
} from '../kit/tracking.ts';
import { type Body, CAPABILITIES, type Content, type ContentOf } from './contract.ts';

type Status = ContentOf<'agent_status'>['status'];
type ToolUse = ContentOf<'agent_response'>['toolsUsed'][number];

export const projection: Projection<State, Body> = { start, step, attach };

export type State = {
  /** time of the last event */
  readonly at: number;
  readonly calls: Calls;
  /** the first one is shown, because answers in this contract have no id */
  readonly approvals: WaitingApprovals;
  /** the text of the last step: an answer if the turn ends, a thought if calls follow */
  readonly text: string | null;
  readonly reasoning: readonly string[];
  readonly toolsUsed: readonly ToolUse[];
  /** the outcome of the last call; the answer of a turn without text */
  readonly result: string;
};

const REST = {
  calls: NO_CALLS,
  approvals: NO_APPROVALS,
  text: null,
  reasoning: [],
  toolsUsed: [],
  result: '',
};

function start(now: SessionSnapshot): State {
  return { ...REST, at: now.created?.at ?? 0 };
}

function step(before: State, event: SessionEvent): StepResult<State, Body> {
  if (event.type === 'text.delta' || event.type === 'reasoning.delta') return [before, NONE];
  const approvals = trackApprovals(before.approvals, event);
  const state = isDurable(event)
    ? { ...before, at: event.at, calls: trackCalls(before.calls, event), approvals }
    : before;
  const sessionId = event.session;
  const say = (...contents: Content[]): Frame<Body>[] =>
    contents.map((content, n) => ({ body: stamped(content, event.at, nthId(event.id, n)) }));
  const showStatus = (status: Status, message?: string, currentTool?: string) =>
    say(statusContent(sessionId, status, { message, currentTool }));
  /** The turn has ended without an answer. */
  const fail = (cause: string, details: string) =>
    say(statusContent(sessionId, 'error', { message: cause }), {
      type: 'error',
      message: `Chat processing failed: ${cause}`,
      code: 'HANDLER_ERROR',
      details,
      sessionId,
    });
  const toolOf = (call: string): string => before.calls[call]?.tool ?? 'unknown';
  if (event.type === 'session.erased' || event.type === 'session.cleared')
    return [state, say({ type: 'conversation_cleared', sessionId, success: true })];
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'turn.started':
      return [{ ...state, ...REST }, showStatus('thinking')];
    case 'turn.resumed':
      return [{ ...state, text: null }, showStatus('thinking')];
    case 'step.restarted': {
      const words = restartText(event);
      return [{ ...state, text: null }, words === null ? NONE : showStatus('thinking', words)];
    }
    case 'reasoning.ended':
      return [event.text === '' ? state : { ...state, reasoning: [...state.reasoning, event.text] }, NONE];
    case 'text.ended':
      if (event.interrupted) return [state, NONE];
      return [{ ...state, text: state.text === null ? event.text : `${state.text}\n\n${event.text}` }, NONE];
    case 'call.requested':
      return [{ ...state, text: null }, state.text ? showStatus('thinking', state.text) : NONE];
    case 'approval.requested':
    case 'approval.answered': {
      const shown = newlyShown(before.approvals, approvals);
      return [state, shown ? say(...question(sessionId, shown.ask, toolOf(shown.call))) : NONE];
    }
    case 'approval.explained':
      return [state, showStatus('using_tool', event.text)];
    case 'limit.approached':
      return [state, showStatus('thinking', limitNotice(event.limit))];
    case 'instructions.changed': {
      const words = instructionsText(event);
      return [state, words === null ? NONE : showStatus('thinking', words)];
    }
    case 'tool.started': {
      const tool = toolOf(event.call);
      return [state, showStatus(tool === 'web_search' ? 'searching' : 'using_tool', undefined, tool)];
    }
    case 'tool.ended': {
      const use = toolUse(before.calls[event.call], event);
      const toolsUsed = use ? [...state.toolsUsed, use] : state.toolsUsed;
      const after = { ...state, toolsUsed, result: textOf(event.parts) };
      if (wasStopped(event)) return [after, NONE];
      return [after, showStatus('analyzing', OUTCOMES[event.outcome](toolOf(event.call)))];
    }
    case 'agent.changed':
      return [
        state,
        showStatus('thinking', `${event.from.name} hands over to ${event.to.name}: ${event.reason}`),
      ];
    case 'turn.ended': {
      const { text, result, toolsUsed } = state;
      const reasoning = state.reasoning.length > 0 ? state.reasoning.join('\n\n') : undefined;
      const content = text ?? result;
      return [
        { ...state, ...REST },
        say(statusContent(sessionId, 'complete'), {
          type: 'agent_response',
          content,
          reasoning,
          sessionId,
          toolsUsed,
        }),
      ];
    }
    case 'turn.failed':
      return [{ ...state, ...REST }, fail(event.fault.message, event.fault.code)];
    case 'turn.cancelled':
      return [{ ...state, ...REST }, fail(CANCELLED[event.reason], event.reason)];
    case 'files.rewound':
      return [state, say({ type: 'agent_response', content: rewoundText(event), sessionId, toolsUsed: [] })];
    case 'call.progress':
      return [state, say(progressContent(event))];
    case 'question.asked':
    case 'question.repeated':
      return [state, say(...asking(sessionId, event))];
    case 'question.answered':
      return [state, showStatus('thinking')];
    case 'input.accepted':
    case 'step.ended':
    case 'input.cancelled':
    case 'input.joined':
    case 'call.deferred':
    case 'call.delegated':
    case 'call.arguments.delta':
      return [state, NONE];
  }
}

function attach({ at }: State, { approval, turn, ref, seq }: SessionSnapshot): Body[] {
  if (!turn) return [];
  const shown = approval
    ? question(ref.id, approval.ask, approval.tool)
    : [statusContent(ref.id, 'thinking')];
  // A repeated question is a message of its own: its id changes with every event since.
  return shown.map((content, n) => stamped(content, at, nthId(turn, 2 * seq + n)));
}

/**
 * Also sent as a response: popups do not render `using_tool`, and disable their input until a response arrives.
 */
const question = (sessionId: string, ask: Ask, tool: string): Content[] => [
  statusContent(sessionId, 'using_tool', { message: waitingText(ask), currentTool: tool }),
  { type: 'agent_response', content: questionText(ask), sessionId, toolsUsed: [] },
];

/** A question of the agent, which the next message answers. */
const asking = (sessionId: string, question: QuestionContent & { readonly problem?: string }): Content[] => [
  statusContent(sessionId, 'complete'),
  { type: 'agent_response', content: writtenQuestion(question), sessionId, toolsUsed: [] },
];

// Frames

/** `id` is a UUID, which is converted to the format of the contract. */
export const stamped = (content: Content, at: number, id: string): Body => ({
  id: stampedId('msg', at, id),
  timestamp: at,
  ...content,
});

/** The contract calls the list `capabilities`, existing clients read `serverCapabilities`. */
export const confirmation = (clientId: string, { id, permissions }: Principal): Content => ({
  type: 'registration_confirmed',
  clientId,
  capabilities: CAPABILITIES,
  serverCapabilities: CAPABILITIES,
  authenticated: id !== LOCAL.id,
  permissions,
});

const statusContent = (
  sessionId: string,
  status: Status,
  { message, currentTool }: { readonly message?: string; readonly currentTool?: string } = {},
): Content => ({ type: 'agent_status', status, currentTool, message, sessionId });

// Tools

export const requestContent = (
  executionId: string,
  { tool, parameters, schema, permissions, timeoutMs }: ClientRequest,
  allowedOrigins: readonly string[],
): Content => ({
  type: 'tool_execution_request',
  executionId,
  toolName: tool,
  parameters,
  timeout: timeoutMs,
  securityContext: { allowedOrigins, permissions, parameterValidation: schema },
});

/** Clients draw a bar and a line of text for every status, so both are always set. */
const PROGRESS: Record<ClientProgress['status'], { progress: number; statusMessage: string }> = {
  queued: { progress: 0, statusMessage: 'Waiting for a client' },
  executing: { progress: 0, statusMessage: 'Running at a client' },
  completed: { progress: 100, statusMessage: 'Done' },
  failed: { progress: 0, statusMessage: 'Failed' },
  timeout: { progress: 0, statusMessage: 'No answer in time' },
};

function progressContent(event: EphemeralEvent<'call.progress'>): Content {
  const { execution: executionId, status, session: sessionId } = event;
  const progress = event.progress ?? PROGRESS[status].progress;
  const statusMessage = event.message ?? PROGRESS[status].statusMessage;
  return { type: 'tool_execution_status', executionId, status, progress, statusMessage, sessionId };
}

/** The outcome of a call as text; undefined if it succeeded. */
const OUTCOMES = {
  ok: () => undefined,
  failed: (tool) => `${tool} failed.`,
  denied: (tool) => `${tool} was not allowed to run.`,
  aborted: (tool) => `${tool} was stopped.`,
  unknown: (tool) => `It is not known what came of ${tool}.`,
} satisfies Record<Outcome, (tool: string) => string | undefined>;

/** Null if the tool was not used. */
function toolUse(call: TrackedCall | undefined, event: DurableEvent<'tool.ended'>): ToolUse | null {
  if (!call || event.outcome === 'denied' || wasStopped(event)) return null;
  return {
    tool: call.tool,
    input: inputWords(Object.values(call.input), call.input),
    output: textOf(event.parts),
    executionTime: event.durationMs,
  };
}

/** In the format of the contract: the text itself if a tool has only a text input, otherwise JSON. */
const inputWords = ([only, ...others]: Json[], input: Json): string =>
  typeof only === 'string' && others.length === 0 ? only : JSON.stringify(input);

// Faults as the `error` frame of the contract.

const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'The turn was superseded by a newer message.',
  denied: 'The turn was ended by a denial.',
};

/** The frame itself is wrong. */
const MALFORMED: readonly FaultCode[] = ['invalid', 'empty', 'too_large'];

/** The response to the sender of a frame that failed. */
export function refusal(frame: unknown, fault: Fault): Content {
  const details = retryText(fault);
  const answered = {
    ...(MALFORMED.includes(fault.code)
      ? { message: `Invalid message: ${details}`, code: 'INVALID_MESSAGE' as const, details }
      : { message: details, code: 'HANDLER_ERROR' as const }),
    ...(fault.retryAfterMs === undefined ? {} : { retryAfter: fault.retryAfterMs }),
  };
  const { type, sessionId } = isObject(frame) ? frame : {};
  if (type === 'client_registration')
    return { type: 'error', ...answered, message: 'Registration failed', details };
  return { type: 'error', ...answered, sessionId: SessionId.safeParse(sessionId).data };
}
