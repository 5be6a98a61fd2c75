/** The output items of a response. */
import { type HistoryItem, type Part, textOf, textPart } from '@parlance/protocol';
import type { RequestedApproval, RequestedCall, TurnUpdate } from '../../kit/turn-updates.ts';
import { itemPosition } from './response-id.ts';

export const SERVER_LABEL = 'parlance';

type Status = 'in_progress' | 'completed' | 'incomplete';

export const messageItem = (id: string, text: string | null, status: Status) => ({
  id,
  type: 'message' as const,
  status,
  role: 'assistant' as const,
  content: text === null ? [] : [textContent(text)],
});

export const textContent = (text: string) => ({
  type: 'output_text' as const,
  annotations: [] as never[],
  text,
});

export const reasoningItem = (id: string, text: string | null) => ({
  id,
  type: 'reasoning' as const,
  summary: text === null ? [] : [summaryText(text)],
});

export const summaryText = (text: string) => ({ type: 'summary_text' as const, text });

export type NamedCall = Pick<RequestedCall, 'call' | 'tool'> & { readonly id: string };

export const functionCallItem = ({ id, call, tool }: NamedCall, written: string, status: Status) => ({
  id,
  type: 'function_call' as const,
  status,
  call_id: call as string,
  name: tool,
  arguments: written,
});

type Result = Extract<TurnUpdate, { kind: 'result' }>;

/** A call of the agent's own tool; without a result while it runs. */
export const mcpCallItem = (
  { id, tool, input }: Omit<RequestedCall, 'call'> & { readonly id: string },
  result: Pick<Result, 'outcome' | 'parts'> | null,
) => ({
  id,
  type: 'mcp_call' as const,
  server_label: SERVER_LABEL,
  name: tool,
  arguments: JSON.stringify(input),
  approval_request_id: null,
  status: result
    ? result.outcome === 'ok'
      ? ('completed' as const)
      : ('failed' as const)
    : ('in_progress' as const),
  output: result?.outcome === 'ok' ? resultText(result.parts) : null,
  error:
    result && result.outcome !== 'ok'
      ? { type: 'mcp_tool_execution_error' as const, content: resultText(result.parts) }
      : null,
});

const resultText = (parts: readonly Part[]): string => textOf(parts);

export const approvalItem = ({ approval, tool, input }: RequestedApproval) => ({
  id: approval as string,
  type: 'mcp_approval_request' as const,
  server_label: SERVER_LABEL,
  name: tool,
  arguments: JSON.stringify(input),
});

export type OutputItem =
  | ReturnType<typeof messageItem>
  | ReturnType<typeof reasoningItem>
  | ReturnType<typeof functionCallItem>
  | ReturnType<typeof mcpCallItem>
  | ReturnType<typeof approvalItem>;

/** The item as a history item, as a client sends it back. */
export function historyItems(item: OutputItem): HistoryItem[] {
  switch (item.type) {
    case 'message': {
      const text = item.content.map((part) => part.text).join('');
      return text === '' ? [] : [{ type: 'text', text }];
    }
    case 'function_call':
      return [callItem(item.call_id, item)];
    case 'mcp_call': {
      const call = itemPosition(item.id)?.id ?? item.id;
      const words = item.output ?? item.error?.content ?? '';
      return [
        callItem(call, item),
        { type: 'result', call: call as RequestedCall['call'], parts: [textPart(words)] },
      ];
    }
    case 'reasoning':
    case 'mcp_approval_request':
      return [];
  }
}

const callItem = (
  call: string,
  item: { readonly name: string; readonly arguments: string },
): HistoryItem => ({
  type: 'call',
  call: call as RequestedCall['call'],
  tool: item.name,
  input: JSON.parse(item.arguments),
});
