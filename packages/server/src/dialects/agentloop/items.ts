/** Payloads of server frames, made from events. */
import {
  type ContextUse,
  type DurableEvent,
  type JsonObject,
  type Part,
  textOf,
  wasStopped,
} from '@parlance/protocol';
import type { TrackedCall } from '../kit/calls.ts';

type Content = { type: 'input_text' | 'output_text'; text: string }[];

export type Item =
  | { id: string; type: 'message'; role: 'assistant' | 'user' | 'system'; content: Content }
  | { id: string; type: 'reasoning'; content: Content; duration_ms: number }
  | { id: string; type: 'function_call'; call_id: string; name: string; arguments: string }
  | { id: string; type: 'function_call_output'; call_id: string; output: string }
  | { id: string; type: 'local_shell_call'; call_id: string; action: JsonObject; status: 'completed' }
  | { id: string; type: 'local_shell_call_output'; call_id: string; output: string };

export const assistantItem = (id: string, text: string): Item => ({
  id,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});

/** The answer that the item is a piece of; null if it is not a piece. */
export const answerId = (item: Item): string | null =>
  item.type === 'message' && item.role === 'assistant' ? item.id : null;

export const answerText = (item: Item): string =>
  item.type === 'message' ? item.content.map((part) => part.text).join('') : '';

export const userItem = (id: string, parts: readonly Part[]): Item => ({
  id,
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: textOf(parts) }],
});

export const systemItem = (id: string, text: string): Item => ({
  id,
  type: 'message',
  role: 'system',
  content: [{ type: 'input_text', text }],
});

export const reasoningItem = ({ block, text, durationMs }: DurableEvent<'reasoning.ended'>): Item => ({
  id: block,
  type: 'reasoning',
  content: [{ type: 'input_text', text }],
  duration_ms: durationMs,
});

/** A call when it starts. A local shell call is shown when it has ended: its item carries the status. */
export function callItem(id: string, { tool, input }: TrackedCall): Item | null {
  if (tool === 'local_shell') return null;
  return { id, type: 'function_call', call_id: id, name: tool, arguments: JSON.stringify(input) };
}

export function outputItems(event: DurableEvent<'tool.ended'>, call: TrackedCall | undefined): Item[] {
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

const STRATEGIES = { threshold: 'ThresholdContextManager', none: 'NoContextManager' };

export const contextInfo = (sessionId: string | undefined, use: ContextUse) => ({
  tokenCount: use.tokens,
  usagePercent: percent(use.tokens, use.limit),
  transcriptLength: use.items,
  maxTokens: use.limit,
  strategy: STRATEGIES[use.strategy],
  sessionId,
});

export const contextCompacted = (event: DurableEvent<'context.compacted'>) => ({
  oldTokenCount: event.oldTokens,
  newTokenCount: event.newTokens,
  reductionPercent: percent(event.oldTokens - event.newTokens, event.oldTokens),
  strategy: STRATEGIES[event.strategy],
  sessionId: event.session,
});

const percent = (part: number, whole: number): number => Math.round((part / whole) * 1000) / 10;
