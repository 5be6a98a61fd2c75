/** Out: converts the events of a session to frames. */
import {
  type Ask,
  type DurableEvent,
  type Fault,
  type FaultCode,
  isTurnEvent,
  limitNotice,
  type SessionEvent,
  textOf,
  writtenQuestion,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import { retryField, retryText } from '../kit/faults.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import {
  elsewhereText,
  instructionsText,
  questionText,
  restartText,
  rewoundText,
  waitingText,
} from '../kit/texts.ts';
import {
  type Calls,
  firstSeen,
  type Inputs,
  NO_APPROVALS,
  NO_CALLS,
  NO_INPUTS,
  newlyShown,
  type TrackedCall,
  trackApprovals,
  trackCalls,
  trackInputs,
  type WaitingApprovals,
} from '../kit/tracking.ts';
import type { Body } from './contract.ts';

export const projection: Projection<State, Body> = { start, step, attach };

export type State = {
  /** undefined if clients have not named the session */
  readonly session_id: string | undefined;
  readonly inputs: Inputs;
  readonly calls: Calls;
  /** the first one is shown, because answers in this contract have no id */
  readonly approvals: WaitingApprovals;
  /** the text of the last step: an answer if the turn ends, a thought if calls follow */
  readonly text: string | null;
  /** the outcome of the last call; the answer of a turn without text */
  readonly result: string;
};

function start(now: SessionSnapshot): State {
  return { ...IDLE, inputs: NO_INPUTS, session_id: now.created?.named === false ? undefined : now.ref.id };
}

function step(before: State, event: SessionEvent): StepResult<State, Body> {
  const calls = trackCalls(before.calls, event);
  const inputs = trackInputs(before.inputs, event);
  const approvals = trackApprovals(before.approvals, event);
  const same = calls === before.calls && inputs === before.inputs && approvals === before.approvals;
  const state = same ? before : { ...before, calls, inputs, approvals };
  const { session_id } = state;
  const named = (body: Body): Body => (session_id === undefined ? body : { ...body, session_id });
  const say = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body: named(body) }));
  const ask = (shown: DurableEvent<'approval.requested'> | null): Frame<Body>[] =>
    shown
      ? question(shown.ask).map(([body, otherwise]) => ({ body: named(body), otherwise: named(otherwise) }))
      : [];
  if (event.type === 'session.created')
    return [{ ...state, session_id: event.named ? event.session : undefined }, NONE];
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'turn.started':
    case 'input.joined': {
      const input = before.inputs[event.input];
      return [state, input ? say({ type: 'user_message', message: textOf(input.parts) }) : NONE];
    }
    case 'reasoning.ended':
      return [state, event.text === '' ? NONE : say(thinking(event.text))];
    case 'text.ended':
      if (event.interrupted) return [state, NONE];
      return [{ ...state, text: state.text === null ? event.text : `${state.text}\n\n${event.text}` }, NONE];
    case 'turn.resumed':
      return [{ ...state, text: null }, NONE];
    case 'step.restarted': {
      const words = restartText(event);
      return [{ ...state, text: null }, words === null ? NONE : say(thinking(words))];
    }
    case 'call.requested':
      return [{ ...state, text: null }, state.text ? say(thinking(state.text)) : NONE];
    case 'approval.requested':
      return [state, ask(newlyShown(before.approvals, approvals))];
    case 'approval.explained':
      return [state, say(thinking(event.text))];
    case 'limit.approached':
      return [state, say(thinking(limitNotice(event.limit)))];
    case 'instructions.changed': {
      const words = instructionsText(event);
      return [state, words === null ? NONE : say(thinking(words))];
    }
    case 'approval.answered':
      return [
        state,
        [
          ...(event.said === undefined ? [] : say({ type: 'user_message', message: event.said })),
          ...ask(newlyShown(before.approvals, approvals)),
        ],
      ];
    case 'tool.started': {
      const call = firstSeen(before.calls, event);
      return [state, call ? say(toolCall(call)) : NONE];
    }
    case 'tool.ended': {
      const call = firstSeen(before.calls, event);
      const result = textOf(event.parts);
      const tool_name = state.calls[event.call]?.tool ?? 'unknown';
      const success = event.outcome === 'ok';
      const ended: Body = { type: 'tool_result', tool_name, result, tool_result: result, success };
      return [{ ...state, result }, call ? say(toolCall(call), ended) : say(ended)];
    }
    case 'agent.changed':
      return [state, say(thinking(`${event.from.name} hands over to ${event.to.name}: ${event.reason}`))];
    case 'turn.ended':
      return [{ ...state, ...IDLE }, say(message(state.text ?? state.result))];
    case 'turn.failed':
      return [{ ...state, ...IDLE }, say(error(faultText(event.fault.code, event.fault.message)))];
    case 'turn.cancelled':
      return [{ ...state, ...IDLE }, say(error(CANCELLED[event.reason]))];
    case 'files.rewound':
      return [state, say(message(rewoundText(event)))];
    case 'question.asked':
    case 'question.repeated':
      return [state, say(message(writtenQuestion(event)))];
    case 'question.answered':
    case 'input.accepted':
    case 'step.ended':
    case 'input.cancelled':
    case 'call.deferred':
    case 'call.delegated':
    case 'text.delta':
    case 'reasoning.delta':
    case 'call.arguments.delta':
    case 'call.progress':
      return [state, NONE];
  }
}

function attach(state: State, now: SessionSnapshot): Body[] {
  if (!now.approval) return [];
  const { session_id } = state;
  return [
    { ...thinking(waitingText(now.approval.ask)), ...(session_id === undefined ? {} : { session_id }) },
  ];
}

const IDLE = { calls: NO_CALLS, approvals: NO_APPROVALS, text: null, result: '' };
/** The frames of a question, each with the one for pages whose chats do not answer it. */
const question = (ask: Ask): [Body, Body][] => [
  [thinking(waitingText(ask)), thinking(elsewhereText(ask))],
  [message(questionText(ask)), message(elsewhereText(ask))],
];
const message = (text: string): Body => ({ type: 'agent_message', message: text });
const thinking = (reasoning: string): Body => ({ type: 'agent_thinking', reasoning });
const toolCall = ({ tool, input }: TrackedCall): Body => ({
  type: 'tool_call',
  tool_name: tool,
  tool_args: JSON.stringify(input),
});

// Faults

const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'The turn was superseded by a newer message.',
  denied: 'The turn was ended by a denial.',
};

const SERVER_ERRORS: readonly FaultCode[] = ['invalid', 'too_large', 'too_slow', 'internal'];

function faultText(code: FaultCode, message: string): string {
  if (code === 'empty') return 'Empty message received';
  return SERVER_ERRORS.includes(code) ? `Server error: ${message}` : message;
}

export const error = (text: string): Body => ({ type: 'error', error: text });

export const faultFrame = (fault: Fault): Body => ({
  ...error(faultText(fault.code, retryText(fault))),
  ...retryField('retry_after', fault),
});
