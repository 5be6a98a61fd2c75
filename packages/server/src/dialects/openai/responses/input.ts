/** Converts the input of a request to a conversation of the core. */
import {
  type ApprovalId,
  type CallId,
  type HistoryItem,
  isObject,
  type Part,
  textPart,
} from '@parlance/protocol';
import type { ApprovalReply } from '../../kit/chat-request.ts';
import { invalid } from '../../kit/request-fault.ts';
import { addInstruction, type Conversation, fileAt, imageAt, inputOf } from '../messages.ts';
import { itemPosition } from './response-id.ts';
import type { Content, InputItem, KnownItem, ResponseRequest } from './schemas.ts';

export type ResponseInput = Conversation & { readonly approvals: readonly ApprovalReply[] };

export function inputConversation(input: ResponseRequest['input']): ResponseInput {
  const given: readonly InputItem[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const instructions: string[] = [];
  const items: HistoryItem[] = [];
  let approvals: ApprovalReply[] = [];
  let newFrom = 0;
  for (const [index, each] of given.entries()) {
    const item = knownItem(each, `input[${index}]`);
    if (item === null) continue;
    if (item.type === 'message' && (item.role === 'system' || item.role === 'developer'))
      addInstruction({ instructions, items }, wordsOf(item.content));
    else if (item.type === 'mcp_approval_response') approvals.push(replyOf(item));
    else items.push(...historyOf(item, `input[${index}]`));
    if (isAssistants(item)) {
      newFrom = items.length;
      // Later output of the agent shows that these were already answered.
      approvals = [];
    }
  }
  const words = instructions.join('\n\n');
  return { ...(instructions.length > 0 && { instructions: words }), items, newFrom, approvals };
}

function knownItem(item: InputItem, param: string): KnownItem | null {
  if (item.type === undefined) return { ...item, type: 'message' };
  if (item.type === 'item_reference') throw invalid(param, 'There is nothing to refer to.');
  return isKnown(item) ? item : null;
}

const isKnown = (item: InputItem): item is KnownItem =>
  'role' in item ||
  'call_id' in item ||
  'approval_request_id' in item ||
  'id' in item ||
  item.type === 'reasoning';

const isAssistants = (item: KnownItem): boolean =>
  item.type === 'message'
    ? item.role === 'assistant'
    : item.type !== 'function_call_output' && item.type !== 'mcp_approval_response';

const replyOf = (item: Extract<KnownItem, { type: 'mcp_approval_response' }>): ApprovalReply => ({
  approval: item.approval_request_id as ApprovalId,
  approve: item.approve,
  ...(item.reason && { reason: item.reason }),
});

function historyOf(item: KnownItem, param: string): HistoryItem[] {
  switch (item.type) {
    case 'message': {
      if (item.role === 'user') return [{ type: 'user', parts: partsOf(item.content, `${param}.content`) }];
      const text = wordsOf(item.content);
      return text === '' ? [] : [{ type: 'text', text }];
    }
    case 'function_call':
      return [callItem(item.call_id, item)];
    case 'function_call_output':
      return [
        { type: 'result', call: item.call_id as CallId, parts: partsOf(item.output, `${param}.output`) },
      ];
    case 'mcp_call': {
      const call = itemPosition(item.id)?.id ?? item.id;
      const failed = item.output == null;
      const words = item.output ?? errorWords(item.error);
      return [
        callItem(call, item),
        { type: 'result', call: call as CallId, parts: [textPart(words)], ...(failed && { failed }) },
      ];
    }
    case 'reasoning':
    case 'mcp_approval_request':
    case 'mcp_approval_response':
      return [];
  }
}

const callItem = (
  call: string,
  item: { readonly name: string; readonly arguments: string },
): HistoryItem => ({
  type: 'call',
  call: call as CallId,
  tool: item.name,
  input: inputOf(item.arguments),
});

function errorWords(error: unknown): string {
  const content = isObject(error) && 'content' in error ? error.content : error;
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

const wordsOf = (content: Content): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : '')).join('');

function partsOf(content: Content, param: string): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  const parts = content.map((part, index) => partOf(part, `${param}[${index}]`));
  return parts.length > 0 ? parts : [textPart('')];
}

function partOf(part: Exclude<Content, string>[number], param: string): Part {
  switch (part.type) {
    case 'input_image':
      return imageAt(part.image_url ?? '', `${param}.image_url`);
    case 'input_file': {
      const field = part.file_url ? 'file_url' : 'file_data';
      return fileAt(part[field] ?? '', { name: part.filename ?? undefined, param: `${param}.${field}` });
    }
    case 'refusal':
      return textPart(part.refusal);
    default:
      return textPart(part.text);
  }
}
