/** The chunks of tool calls. */
import {
  type DurableEvent,
  type EphemeralEvent,
  type Json,
  type PromptPart,
  textOf,
  withoutPages,
} from '@parlance/protocol';
import { resultData } from '../shared/calls.ts';
import type { Chunk, ServerTool } from './chunks.ts';
import { fileUrl } from './files.ts';
import { type Call, type Changed, type State, withCall, withoutCall } from './state.ts';

const SERVER: ServerTool = { providerExecuted: true, dynamic: true };

const marks = (isPages: boolean): ServerTool => (isPages ? {} : SERVER);

type Written = Pick<EphemeralEvent<'call.arguments.delta'>, 'call' | 'tool' | 'offset' | 'text'>;

export function argumentsWritten(state: State, { call, tool, offset, text }: Written): Changed {
  const delta: Chunk[] =
    text === '' ? [] : [{ type: 'tool-input-delta', toolCallId: call, inputTextDelta: text }];
  if (state.calls[call]) return [state, delta];
  return offset === 0
    ? [withCallStarted(state, call, tool), [startOf(state, call, tool), ...delta]]
    : [state, []];
}

export function callRequested(state: State, event: DurableEvent<'call.requested'>): Changed {
  const { call: toolCallId, tool: toolName, input } = event;
  const isKnown = state.calls[toolCallId] !== undefined;
  const known = isKnown ? state : withCallStarted(state, toolCallId, toolName);
  const whole = { toolCallId, toolName, input, ...marks(isPageTool(state, toolName)) };
  return [
    { ...withCall(known, toolCallId, { phase: 'requested' }), step: 'calling' },
    [...(isKnown ? [] : [startOf(state, toolCallId, toolName)]), { type: 'tool-input-available', ...whole }],
  ];
}

export function approvalRequested(state: State, event: DurableEvent<'approval.requested'>): Changed {
  const { call: toolCallId, approval: approvalId, ask } = event;
  const waiting = withCall(state, toolCallId, { phase: 'waiting', approval: approvalId });
  return [waiting, [{ type: 'tool-approval-request', toolCallId, approvalId, reason: ask.description }]];
}

export function approvalAnswered(state: State, event: DurableEvent<'approval.answered'>): Changed {
  const { call: toolCallId, approval: approvalId, answer, reason } = event;
  const response = { toolCallId, approvalId, approved: answer !== 'deny', ...(reason && { reason }) };
  return [
    withCall(state, toolCallId, { phase: 'allowed' }),
    [{ type: 'tool-approval-response', ...response }],
  ];
}

export function toolEnded(state: State, event: DurableEvent<'tool.ended'>): Changed {
  const { [event.call]: call } = state.calls;
  return [withoutCall(state, event.call), call ? [outcomeOf(call, event)] : []];
}

function outcomeOf(call: Call, event: DurableEvent<'tool.ended'>): Chunk {
  const toolCallId = event.call;
  if (event.outcome === 'ok')
    return {
      type: 'tool-output-available',
      toolCallId,
      output: outputOf(call, event),
      ...marks(call.isPages),
    };
  // A denial without an approval comes from a rule of the server.
  if (event.outcome === 'denied' && call.approval !== null) return { type: 'tool-output-denied', toolCallId };
  const errorText = textOf(event.parts) || 'The call failed.';
  return { type: 'tool-output-error', toolCallId, errorText, ...marks(call.isPages) };
}

/** The page receives its own value again, not the text that the model received. */
function outputOf({ isPages }: Call, event: DurableEvent<'tool.ended'>): Json {
  const data = resultData(event);
  if (isPages && data && 'output' in data) return data.output ?? null;
  return data ?? partsValue(withoutPages(event.parts));
}

const partsValue = (parts: readonly PromptPart[]): Json =>
  parts.every(({ type }) => type === 'text')
    ? textOf(parts)
    : parts.map((part) =>
        part.type === 'text' ? part : { type: 'file', mediaType: part.mime, url: fileUrl(part) },
      );

const isPageTool = ({ pageTools }: State, tool: string): boolean => pageTools.includes(tool);

const startOf = (state: State, toolCallId: string, toolName: string): Chunk => ({
  type: 'tool-input-start',
  toolCallId,
  toolName,
  ...marks(isPageTool(state, toolName)),
});

const withCallStarted = (state: State, id: string, tool: string): State => ({
  ...state,
  calls: {
    ...state.calls,
    [id]: { tool, isPages: isPageTool(state, tool), phase: 'writing', approval: null },
  },
});
