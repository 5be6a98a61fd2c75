/** In: chat messages and input items as a conversation of the core, and the options of a turn. */
import {
  type ApprovalId,
  type CallId,
  type HistoryItem,
  isObject,
  linkPart,
  type Part,
  ReasoningEffort,
  type TurnOptions,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import { type ApprovalReply, argumentsOf, type ChatRequest, invalid } from '../kit/chat-request.ts';
import type {
  CompletionRequest,
  Content,
  InputItem,
  KnownItem,
  Message,
  ResponseRequest,
} from './contract.ts';
import { itemPosition } from './responses/objects.ts';

type Conversation = Pick<ChatRequest, 'items' | 'newFrom'> & {
  /** system messages before the conversation; replace the agent's instructions. Absent if the caller has none */
  readonly instructions?: string;
};

export function conversationOf(messages: readonly Message[]): Conversation {
  const instructions: string[] = [];
  const items: HistoryItem[] = [];
  let newFrom = 0;
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'system':
      case 'developer':
        addInstruction({ instructions, items }, wordsOf(message.content));
        break;
      case 'user':
        items.push({ type: 'user', parts: partsOf(message.content, `messages[${index}].content`) });
        break;
      case 'assistant': {
        const { content, refusal, tool_calls: calls } = message;
        items.push(...textItems(wordsOf(content ?? '') || (refusal ?? '')));
        for (const { id, function: called } of calls ?? []) items.push(callItem(id, called));
        newFrom = items.length;
        break;
      }
      case 'tool': {
        const parts = [textPart(wordsOf(message.content))];
        items.push({ type: 'result', call: message.tool_call_id as CallId, parts });
      }
    }
  }
  return { ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }), items, newFrom };
}

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
    else items.push(...historyItems(item, `input[${index}]`));
    if (isAssistants(item)) {
      newFrom = items.length;
      // Later output of the agent shows that these were already answered.
      approvals = [];
    }
  }
  const words = instructions.join('\n\n');
  return { ...(instructions.length > 0 && { instructions: words }), items, newFrom, approvals };
}

/** Those in the middle of the conversation stand at their place. */
function addInstruction(
  { instructions, items }: { readonly instructions: string[]; readonly items: HistoryItem[] },
  text: string,
): void {
  if (items.length === 0) instructions.push(text);
  else if (text !== '') items.push({ type: 'system', text });
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
  item.type === 'reasoning' ||
  item.type === 'compaction';

const isAssistants = (item: KnownItem): boolean =>
  item.type === 'message'
    ? item.role === 'assistant'
    : item.type !== 'function_call_output' && item.type !== 'mcp_approval_response';

const replyOf = (item: Extract<KnownItem, { type: 'mcp_approval_response' }>): ApprovalReply => ({
  approval: item.approval_request_id as ApprovalId,
  approve: item.approve,
  ...(item.reason && { reason: item.reason }),
});

/** Input and output have the same items: a client sends output back. */
export function historyItems(item: KnownItem, param: string): HistoryItem[] {
  switch (item.type) {
    case 'message':
      return item.role === 'user'
        ? [{ type: 'user', parts: partsOf(item.content, `${param}.content`) }]
        : textItems(wordsOf(item.content));
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
    case 'compaction':
      return [{ type: 'text', text: compactedText(item.encrypted_content, `${param}.encrypted_content`) }];
    case 'reasoning':
    case 'mcp_approval_request':
    case 'mcp_approval_response':
      return [];
  }
}

// What a compaction item carries is encoded, not encrypted: it is the caller's own conversation, and the caller may claim any
// history anyway.

const Compacted = z.object({ version: z.literal(1), summary: z.string().min(1) });

export const compactedContent = (summary: string): string =>
  Buffer.from(JSON.stringify({ version: 1, summary } satisfies z.output<typeof Compacted>)).toString(
    'base64url',
  );

function compactedText(content: string, param: string): string {
  try {
    const { summary } = Compacted.parse(JSON.parse(Buffer.from(content, 'base64url').toString()));
    return `Summary of the conversation so far:\n\n${summary}`;
  } catch {
    throw invalid(param, 'This server did not make the compaction item.');
  }
}

const textItems = (text: string): HistoryItem[] => (text === '' ? [] : [{ type: 'text', text }]);

const callItem = (
  call: string,
  item: { readonly name: string; readonly arguments: string },
): HistoryItem => ({
  type: 'call',
  call: call as CallId,
  tool: item.name,
  input: argumentsOf(item.arguments),
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
    case 'image_url':
      return imageAt(part.image_url.url, `${param}.image_url.url`);
    case 'input_image':
      return imageAt(part.image_url ?? '', `${param}.image_url`);
    case 'file': {
      const { filename, file_data: url = '' } = part.file;
      return fileAt(url, filename, `${param}.file.file_data`);
    }
    case 'input_file': {
      const field = part.file_url ? 'file_url' : 'file_data';
      return fileAt(part[field] ?? '', part.filename ?? undefined, `${param}.${field}`);
    }
    case 'refusal':
      return textPart(part.refusal);
    default:
      return textPart(part.text);
  }
}

/** An image of a data: URL, or a link. */
const imageAt = (url: string, param: string): Part =>
  linkPart({ kind: 'image', url }) ?? { type: 'image', ...fromDataUrl(url, param) };

const fileAt = (url: string, name: string | undefined, param: string): Part =>
  linkPart({ kind: 'file', url, ...(name && { name }) }) ?? {
    type: 'file',
    name: name ?? 'file',
    ...fromDataUrl(url, param),
  };

function fromDataUrl(url: string, param: string): { readonly mime: string; readonly data: string } {
  const [, mime, data] = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/.exec(url) ?? [];
  if (mime === undefined || data === undefined || data === '')
    throw invalid(param, 'Images and files are taken as http(s): URLs, and as data: URLs with base64.');
  return { mime, data };
}

type Options = NonNullable<TurnOptions['options']>;

/** The options of a turn. The APIs have some of them in different places. */
export function turnOptions(
  body: Pick<CompletionRequest, 'parallel_tool_calls' | 'stop' | 'temperature' | 'top_p'>,
  {
    max,
    format,
    effort,
    toolChoice,
  }: {
    readonly max: number | null | undefined;
    readonly format: NonNullable<ResponseRequest['text']>['format'];
    readonly effort: unknown;
    readonly toolChoice: Options['toolChoice'] | null;
  },
): Options {
  const { temperature, top_p: topP, stop, parallel_tool_calls: parallelToolCalls } = body;
  const reasoningEffort = ReasoningEffort.safeParse(effort).data;
  return {
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(max != null && { maxOutputTokens: max }),
    ...(stop != null && { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(format && { responseFormat: formatOf(format) }),
    ...(reasoningEffort && { reasoningEffort }),
    ...(toolChoice && { toolChoice }),
    ...(parallelToolCalls != null && { parallelToolCalls }),
  };
}

function formatOf(
  format: NonNullable<NonNullable<ResponseRequest['text']>['format']>,
): NonNullable<Options['responseFormat']> {
  if (format.type !== 'json_schema') return { type: format.type === 'text' ? 'text' : 'json' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', name, schema, ...(strict != null && { strict }) };
}
