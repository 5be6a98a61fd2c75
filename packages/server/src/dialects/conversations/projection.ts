/** Out: converts the events of a session to frames. `dialect.ts` lists what is not sent. */
import type { SessionEvent } from '@parlance/protocol';
import type { SessionRecord, SessionSnapshot } from '../../core/api/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { finalAnswer, trackCalls } from '../shared/calls.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../shared/projection.ts';
import { approvalRequired, type Body, chunk, type ErrorCode, errorBody, thought } from './bodies.ts';
import { addTokens, BETWEEN_BLOCKS, IDLE, type State } from './state.ts';
import { outcomeText, REJECTED } from './tool-outcome.ts';
import {
  agentChanged,
  answered,
  firstChunk,
  frames,
  restarted,
  resumed,
  toolEnded,
  turnStarted,
} from './transitions.ts';

export type { State } from './state.ts';

/** Merges chunks of one message. */
export const pieces: Pieces<Body> = {
  key: (body) => (body.type === 'message_chunk' ? body.payload.messageId : null),
  text: (body) => (body.type === 'message_chunk' ? body.payload.chunk : ''),
  with: (body, text) =>
    body.type === 'message_chunk' ? { ...body, payload: { ...body.payload, chunk: text } } : body,
};

export const projection: Projection<State, Body> = { start, step, attach, pieces };

function start({ ref, agent }: Pick<SessionSnapshot, 'ref' | 'agent'>): State {
  return { ...IDLE, conversationId: ref.id, agent, directInputs: [], openBlock: null };
}

/** The state before the first event of a log. */
export const startOf = ({ ref, agent }: SessionRecord): State =>
  start({ ref, agent: { id: agent, name: agent } });

export function step(before: State, event: SessionEvent): StepResult<State, Body> {
  const calls = trackCalls(before.calls, event);
  const state = calls === before.calls ? before : { ...before, calls };
  switch (event.type) {
    case 'input.accepted':
      if (!event.call) return [state, NONE];
      return [{ ...state, directInputs: [...state.directInputs, event.input] }, NONE];
    case 'turn.started':
      return turnStarted(state, event);
    case 'agent.changed':
      return agentChanged(state, event);
    case 'reasoning.ended':
      return [state, event.interrupted || event.text === '' ? NONE : frames(thought(state, event.text))];
    case 'approval.explained':
      return [state, frames(thought(state, event.text))];
    case 'text.delta':
      if (event.block === state.openBlock)
        return [state, [{ body: chunk(state, state.message, event.text) }]];
      return [{ ...state, openBlock: event.block, hasText: true }, frames(firstChunk(state, event.text))];
    case 'text.ended': {
      const seen = event.block === state.openBlock;
      const openBlock = seen ? null : state.openBlock;
      const next = { ...state, openBlock, texts: [...state.texts, event.text], hasText: true };
      return [next, seen ? NONE : frames(firstChunk(state, event.text))];
    }
    case 'step.ended': {
      const { outputTokens } = event.usage;
      const turnMeter = addTokens(state.turnMeter, outputTokens);
      const agentMeter = addTokens(state.agentMeter, outputTokens);
      return [{ ...state, turnMeter, agentMeter, settled: state.texts.length, hasText: false }, NONE];
    }
    case 'step.restarted':
      return restarted(state, event);
    case 'turn.resumed':
      return resumed(state, event);
    case 'approval.requested': {
      const { tool = 'unknown', input = {} } = state.calls[event.call] ?? {};
      return [state, frames(approvalRequired(state, { ...event, tool, input }))];
    }
    case 'approval.answered':
      return [event.answer === 'deny' ? { ...state, denial: event.reason || REJECTED } : state, NONE];
    case 'tool.ended': {
      const ended = toolEnded(state, event);
      if (state.direct) return [{ ...state, texts: [outcomeText(event, state.denial)] }, ended];
      const answer = finalAnswer(event);
      if (answer === null) return [state, ended];
      const texts = [...state.texts, answer];
      return [{ ...state, texts, settled: texts.length }, [...ended, ...frames(firstChunk(state, answer))]];
    }
    case 'turn.ended':
      return [{ ...state, ...IDLE }, answered(state, event)];
    case 'turn.failed':
      return [{ ...state, ...IDLE }, failure(event, 'stream_error', event.fault.message)];
    case 'turn.cancelled': {
      const cancelled = () => failure(event, 'cancelled', 'Stream cancelled');
      return [{ ...state, ...IDLE }, event.reason === 'denied' ? answered(state, event) : cancelled()];
    }
    case 'session.created':
    case 'input.cancelled':
    case 'history.imported':
    case 'session.cleared':
    case 'call.requested':
    case 'tool.started':
    case 'session.renamed':
    case 'session.archived':
    case 'session.unarchived':
    case 'session.pinned':
    case 'session.tagged':
    case 'session.labelled':
    case 'session.rewound':
    case 'session.configured':
    case 'call.deferred':
    case 'grant.revoked':
    case 'context.compacted':
    case 'reasoning.delta':
    case 'call.arguments.delta':
    case 'call.progress':
    case 'session.erased':
      return [state, NONE];
  }
}

const failure = ({ session }: SessionEvent, code: ErrorCode, message: string): Frame<Body>[] =>
  frames(errorBody(code, message, { conversationId: session }));

/** Sends the answer so far as one chunk, so that the joined chunks are the content for this socket as well. */
function attach(state: State, { turn, open: block, approvals }: SessionSnapshot): Body[] {
  const bodies: Body[] = [];
  const texts = block?.kind === 'text' ? [...state.texts, block.text] : state.texts;
  if (turn && !state.direct && texts.length > 0)
    bodies.push(chunk(state, state.message, texts.join(BETWEEN_BLOCKS)));
  bodies.push(...approvals.map((approval) => approvalRequired(state, approval)));
  return bodies;
}
