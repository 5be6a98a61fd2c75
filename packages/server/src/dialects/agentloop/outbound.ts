/** Out: converts the events of a session to frames. */
import {
  type Ask,
  type ContextUse,
  type DurableEvent,
  type Fault,
  isTurnEvent,
  limitNotice,
  type Part,
  type SessionEvent,
  textOf,
  wasStopped,
  writtenQuestion,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { HTTP_STATUS, retryField, retryText } from '../kit/faults.ts';
import { type Frame, NONE, nthId, type Projection, type StepResult } from '../kit/projection.ts';
import { instructionsText, rewoundText, streamRestartText } from '../kit/texts.ts';
import {
  type Calls,
  finalAnswer,
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
  type WaitingInput,
} from '../kit/tracking.ts';
import type { Body, ClientFrame, Details, Item } from './contract.ts';

export type State = {
  readonly calls: Calls;
  readonly inputs: Inputs;
  /** the first one is shown, because answers in this contract have no id */
  readonly approvals: WaitingApprovals;
  /** completed texts of the turn, for a socket that attaches during it */
  readonly texts: readonly { readonly block: string; readonly text: string }[];
  /** how many of them belong to completed steps; the others are discarded if the step restarts */
  readonly settled: number;
  /** the text block that is being streamed */
  readonly open: string | null;
};

function start(): State {
  return { calls: NO_CALLS, inputs: NO_INPUTS, approvals: NO_APPROVALS, texts: [], settled: 0, open: null };
}

function step(before: State, event: SessionEvent): StepResult<State, Body> {
  if (event.type === 'text.delta') {
    const state = before.open === event.block ? before : { ...before, open: event.block };
    return [state, [{ body: piece(event.id, event.block, event.text) }]];
  }
  const [state, shown] = project(before, event);
  // A block without an end: its step has failed or starts again.
  if (before.open === null || state.open === null || !shown.some(({ body }) => clearsLine(body)))
    return [state, shown];
  return [{ ...state, open: null }, [...say(lineBreak(nthId(event.id, 5), before.open)), ...shown]];
}

/**
 * Deployed terminals clear their current line when they receive one of these frames: text is visible only if a line
 * break has ended it.
 */
const clearsLine = ({ type }: Body): boolean => type === 'loading_state' || type === 'approval_request';

/** Ends the last line of a text. */
const lineBreak = (id: string, block: string): Body => piece(id, block, '\n');

/** The text as it was sent, with the line break. */
const withLineBreak = (text: string): string => (needsLineBreak(text) ? `${text}\n` : text);

/** The sender already shows its own message. */
const userFrame = (
  { id, input }: DurableEvent<'turn.started' | 'input.joined'>,
  { parts, via }: WaitingInput,
): Frame<Body> => ({
  body: { id: nthId(id, 1), type: 'response_item', payload: userItem(input, parts) },
  except: via,
});

const needsLineBreak = (text: string): boolean => text !== '' && !text.endsWith('\n');

function project(
  before: State,
  event: Exclude<SessionEvent, { type: 'text.delta' }>,
): StepResult<State, Body> {
  const calls = trackCalls(before.calls, event);
  const inputs = trackInputs(before.inputs, event);
  const approvals = trackApprovals(before.approvals, event);
  const same = calls === before.calls && inputs === before.inputs && approvals === before.approvals;
  const state = same ? before : { ...before, calls, inputs, approvals };
  const { id } = event;
  if (!isTurnEvent(event)) {
    switch (event.type) {
      case 'session.erased':
        return [start(), say(...items(id, [systemItem(nthId(id, 1), 'The conversation was deleted.')]))];
      case 'session.cleared':
        return [state, say(...items(id, [systemItem(nthId(id, 1), 'The conversation was cleared.')]))];
      case 'session.rewound': {
        const text =
          event.rewind === undefined
            ? 'An earlier message was replaced: the conversation goes on from before it.'
            : 'The conversation was rewound: it goes on from before an earlier message.';
        return [state, say(...items(id, [systemItem(nthId(id, 1), text)]))];
      }
      case 'session.restored': {
        const text = 'The rewind was undone: the conversation goes on from where it was.';
        return [state, say(...items(id, [systemItem(nthId(id, 1), text)]))];
      }
      case 'context.compacted':
        return [state, say({ id, type: 'context_compacted', payload: contextCompacted(event) })];
      default:
        return [state, NONE];
    }
  }
  switch (event.type) {
    case 'turn.started': {
      const input = before.inputs[event.input];
      const begun: Frame<Body> = { body: loading(id, true) };
      const anew = { ...state, texts: [], settled: 0 };
      return [anew, [begun, ...(input ? [userFrame(event, input)] : [])]];
    }
    case 'input.joined': {
      const input = before.inputs[event.input];
      return [state, input ? [userFrame(event, input)] : NONE];
    }
    case 'turn.resumed':
      return [{ ...state, texts: state.texts.slice(0, state.settled) }, say(loading(id, true))];
    case 'step.restarted': {
      const words = streamRestartText(event);
      const texts = state.texts.slice(0, state.settled);
      return [
        { ...state, texts },
        words === null ? NONE : say(...items(id, [systemItem(nthId(id, 1), `⚠️ ${words}`)])),
      ];
    }
    case 'text.ended': {
      const { block, text } = event;
      const next = { ...state, texts: [...state.texts, { block, text }], open: null };
      return [next, needsLineBreak(text) ? say(lineBreak(id, block)) : NONE];
    }
    case 'limit.approached':
      return [state, say(...items(id, [systemItem(nthId(id, 1), `⚠️ ${limitNotice(event.limit)}`)]))];
    case 'instructions.changed': {
      const words = instructionsText(event);
      return [state, words === null ? NONE : say(...items(id, [systemItem(nthId(id, 1), `⚠️ ${words}`)]))];
    }
    case 'step.ended':
      return [{ ...state, settled: state.texts.length }, NONE];
    case 'reasoning.ended':
      return [state, event.text === '' ? NONE : say(...items(id, [reasoningItem(event)]))];
    case 'approval.requested':
    case 'approval.answered': {
      const shown = newlyShown(before.approvals, approvals);
      if (!shown) return [state, NONE];
      const { approval, ask, child } = shown;
      // The frame has no place for the one who asks.
      const from = child ? items(nthId(id, 3), [systemItem(nthId(id, 4), ask.description)]) : [];
      const warned = replacing(nthId(id, 1), nthId(id, 2), ask);
      return [state, say(...from, ...warned, approvalRequest(id, approval, ask))];
    }
    case 'approval.explained': {
      const explained = items(id, [assistantItem(nthId(id, 2), withLineBreak(event.text))]);
      const [shown] = approvals;
      if (shown?.approval !== event.approval) return [state, say(...explained)];
      return [state, say(...explained, approvalRequest(nthId(id, 1), event.approval, shown.ask))];
    }
    case 'tool.started': {
      const call = firstSeen(before.calls, event);
      const item = call && callItem(event.call, call);
      return [state, item ? say(...items(id, [item])) : NONE];
    }
    case 'tool.ended': {
      const unseen = firstSeen(before.calls, event);
      const item = unseen && callItem(event.call, unseen);
      const output = outputItems(event, state.calls[event.call]);
      const text = finalAnswer(event);
      const shown = [...(item ? [item] : []), ...output];
      if (text === null) return [state, say(...items(id, shown))];
      const texts = [...state.texts, { block: id, text }];
      const answered = { ...state, texts, settled: texts.length };
      return [answered, say(...items(id, [...shown, assistantItem(id, withLineBreak(text))]))];
    }
    case 'agent.changed': {
      const text = `${event.from.name} hands over to ${event.to.name}: ${event.reason}`;
      return [state, say(...items(id, [systemItem(nthId(id, 1), text)]))];
    }
    case 'turn.ended':
      return [state, say(...finished(event), ...use(nthId(id, 2), event))];
    case 'turn.cancelled': {
      const over = event.reason === 'superseded' ? [loading(id, false)] : finished(event);
      return [state, say(...over, ...use(nthId(id, 2), event))];
    }
    case 'turn.failed': {
      const { code, message } = event.fault;
      const details = { error: message, code: HTTP_STATUS[code] };
      const warning = items(id, [systemItem(nthId(id, 3), `⚠️ ${message}`)]);
      const error: Body = {
        id: nthId(id, 1),
        type: 'error',
        payload: { message: FAILED.user_input, details },
      };
      return [state, say(...warning, error, loading(nthId(id, 2), false), ...use(nthId(id, 4), event))];
    }
    case 'question.asked':
    case 'question.repeated': {
      const asked = items(id, [assistantItem(nthId(id, 1), withLineBreak(writtenQuestion(event)))]);
      return [state, say(...asked, loading(nthId(id, 2), false))];
    }
    case 'question.answered':
      return [state, say(loading(id, true))];
    case 'files.rewound':
      return [state, say(...items(id, [systemItem(nthId(id, 1), rewoundText(event))]))];
    case 'call.deferred':
    case 'call.delegated':
    case 'input.accepted':
    case 'input.cancelled':
    case 'call.requested':
    case 'reasoning.delta':
    case 'call.arguments.delta':
    case 'call.progress':
      return [state, NONE];
  }
}

/** Sends the texts of the turn so far; joined by id with later pieces they are complete. */
function attach({ texts }: State, { turn, open: block, approval }: SessionSnapshot): Body[] {
  if (!turn) return [];
  const bodies = [loading(turn, true)];
  bodies.push(...texts.map((ended, n) => piece(nthId(turn, n + 3), ended.block, withLineBreak(ended.text))));
  if (block?.kind === 'text') bodies.push(piece(nthId(turn, 1), block.block, block.text));
  if (!approval) return bodies;
  const last = texts.length + 3;
  return [
    ...bodies,
    ...replacing(nthId(turn, last), nthId(turn, last + 1), approval.ask),
    approvalRequest(nthId(turn, 2), approval.approval, approval.ask),
  ];
}

const say = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body }));

// Frames

/** A response id contains its session, so that a client can continue from it on a new socket. */
const responseId = ({ session, turn }: DurableEvent<'turn.ended' | 'turn.cancelled'>): string =>
  `resp_${session}.${turn}`;

export const sessionOfResponse = (id: string): string =>
  id.slice('resp_'.length, Math.max(0, id.lastIndexOf('.')));

/** Called for each token. */
const piece = (id: string, block: string, text: string): Body => ({
  id,
  type: 'response_item',
  payload: assistantItem(block, text),
});

/** Pieces of one answer share its id, and clients append them. */
const pieces: Pieces<Body> = {
  key: (body) =>
    body.type === 'response_item' && body.payload.type === 'message' && body.payload.role === 'assistant'
      ? body.payload.id
      : null,
  text: (body) =>
    body.type === 'response_item' && body.payload.type === 'message'
      ? body.payload.content.map((part) => part.text).join('')
      : '',
  with: (body, text) =>
    body.type === 'response_item' ? { ...body, payload: assistantItem(body.payload.id, text) } : body,
};

const items = (id: string, payloads: Item[]): Body[] =>
  payloads.map((payload, n) => ({ id: nthId(id, n), type: 'response_item', payload }));

const loading = (id: string, isLoading: boolean): Body => ({
  id,
  type: 'loading_state',
  payload: { loading: isLoading },
});

const approvalRequest = (id: string, requestId: string, { command, patch }: Ask): Body => ({
  id,
  type: 'approval_request',
  payload: { command, ...(patch === undefined ? {} : { applyPatch: { patch } }), requestId },
});

/** Deployed clients show only the text of a patch, which does not tell whether the file exists. */
function replacing(id: string, itemId: string, { replaces = [] }: Ask): Body[] {
  if (replaces.length === 0) return [];
  const files = replaces.length === 1 ? 'file' : 'files';
  return items(id, [
    systemItem(itemId, `⚠️ This patch replaces the existing ${files} ${replaces.join(', ')}.`),
  ]);
}

const finished = (event: DurableEvent<'turn.ended' | 'turn.cancelled'>): Body[] => [
  loading(event.id, false),
  {
    id: nthId(event.id, 1),
    type: 'agent_finished',
    payload: { responseId: responseId(event), sessionId: event.session },
  },
];

/**
 * Sent whatever the outcome of the turn. Turns stored by earlier versions have the usage only if they
 * succeeded.
 */
const use = (
  id: string,
  { session, context }: DurableEvent<'turn.ended' | 'turn.cancelled' | 'turn.failed'>,
): Body[] => (context ? [{ id, type: 'context_info', payload: contextInfo(session, context) }] : []);

export const projection: Projection<State, Body> = { start, step, attach, pieces };

// Items of the conversation

const assistantItem = (id: string, text: string): Item => ({
  id,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});

const userItem = (id: string, parts: readonly Part[]): Item => ({
  id,
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: textOf(parts) }],
});

const systemItem = (id: string, text: string): Item => ({
  id,
  type: 'message',
  role: 'system',
  content: [{ type: 'input_text', text }],
});

const reasoningItem = ({ block, text, durationMs }: DurableEvent<'reasoning.ended'>): Item => ({
  id: block,
  type: 'reasoning',
  content: [{ type: 'input_text', text }],
  duration_ms: durationMs,
});

/** A call when it starts. A local shell call is shown when it has ended: its item carries the status. */
function callItem(id: string, { tool, input }: TrackedCall): Item | null {
  if (tool === 'local_shell') return null;
  return { id, type: 'function_call', call_id: id, name: tool, arguments: JSON.stringify(input) };
}

function outputItems(event: DurableEvent<'tool.ended'>, call: TrackedCall | undefined): Item[] {
  const { call: id } = event;
  const output = outputText(event);
  if (call?.tool !== 'local_shell') {
    return [{ id: `output_${id}`, type: 'function_call_output', call_id: id, output }];
  }
  return [
    { id, type: 'local_shell_call', call_id: id, action: call.input, status: 'completed' },
    { id: `output_${id}`, type: 'local_shell_call_output', call_id: id, output },
  ];
}

/** The JSON string that clients parse: {output, metadata{exit_code, duration_seconds}}. */
function outputText(event: DurableEvent<'tool.ended'>): string {
  const { parts, data, outcome, durationMs } = event;
  const text = wasStopped(event) ? 'aborted' : textOf(parts);
  const output = typeof data?.output === 'string' ? data.output : text;
  const exit_code = typeof data?.exit_code === 'number' ? data.exit_code : outcome === 'ok' ? 0 : 1;
  const duration_seconds = Math.round(durationMs / 100) / 10;
  return JSON.stringify({ output, metadata: { exit_code, duration_seconds } });
}

const STRATEGIES = { threshold: 'ThresholdContextManager', none: 'NoContextManager' } as const;

export const contextInfo = (sessionId: string | undefined, use: ContextUse) => ({
  tokenCount: use.tokens,
  usagePercent: percent(use.tokens, use.limit),
  transcriptLength: use.items,
  maxTokens: use.limit,
  strategy: STRATEGIES[use.strategy],
  sessionId,
});

const contextCompacted = (event: DurableEvent<'context.compacted'>) => ({
  oldTokenCount: event.oldTokens,
  newTokenCount: event.newTokens,
  reductionPercent: percent(event.oldTokens - event.newTokens, event.oldTokens),
  strategy: STRATEGIES[event.strategy],
  sessionId: event.session,
});

const percent = (part: number, whole: number): number => Math.round((part / whole) * 1000) / 10;

// Faults as the `error` frame of the contract.

export const FAILED: Record<ClientFrame['type'], string> = {
  user_input: 'Failed to process user input',
  approval_response: 'Failed to process approval response',
  get_context_info: 'Failed to get context info',
  manual_compact: 'Failed to compact context',
};

export const detailsOf = (fault: Fault): Details => ({
  error: retryText(fault),
  code: HTTP_STATUS[fault.code],
  ...retryField('retryAfter', fault),
});

export function refusal(type: ClientFrame['type'], fault: Fault): [string, Details] {
  return [fault.code === 'no_approval' ? 'No pending approval request' : FAILED[type], detailsOf(fault)];
}
