/** Converts chat messages to a conversation of the core. */
import {
  type CallId,
  type HistoryItem,
  isObject,
  type JsonObject,
  jsonRefusal,
  linkPart,
  type Part,
  textPart,
} from '@parlance/protocol';
import { invalid } from '../kit/request-fault.ts';
import type { Content, Message } from './schemas.ts';

export type Conversation = {
  /** system messages before the conversation; replace the agent's instructions. Absent if the caller has none */
  readonly instructions?: string;
  readonly items: readonly HistoryItem[];
  /** index of the first item after the last message of the assistant */
  readonly newFrom: number;
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
      case 'assistant':
        items.push(...assistantItems(message));
        newFrom = items.length;
        break;
      case 'tool':
        items.push({
          type: 'result',
          call: message.tool_call_id as CallId,
          parts: [textPart(wordsOf(message.content))],
        });
    }
  }
  return { ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }), items, newFrom };
}

/** Those in the middle of the conversation stand at their place. */
export function addInstruction(
  { instructions, items }: { readonly instructions: string[]; readonly items: HistoryItem[] },
  text: string,
): void {
  if (items.length === 0) instructions.push(text);
  else if (text !== '') items.push({ type: 'system', text });
}

type Words = string | readonly ({ readonly text: string } | { readonly refusal: string })[];

const wordsOf = (content: Words): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => ('text' in part ? part.text : part.refusal)).join('');

function assistantItems({
  content,
  refusal,
  tool_calls: calls,
}: Extract<Message, { role: 'assistant' }>): HistoryItem[] {
  const text = wordsOf(content ?? '') || (refusal ?? '');
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
      type: 'call' as const,
      call: id as CallId,
      tool: name,
      input: inputOf(input),
    })),
  ];
}

/** Arguments written by a model may not be JSON: they count as empty. */
export function inputOf(text: string): JsonObject {
  if (jsonRefusal(text) !== null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

function partsOf(content: Content, param: string): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  const parts = content.map((part, index) => partOf(part, `${param}[${index}]`));
  return parts.length > 0 ? parts : [textPart('')];
}

function partOf(part: Exclude<Content, string>[number], param: string): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'image_url':
      return imageAt(part.image_url.url, `${param}.image_url.url`);
    case 'file': {
      const { filename, file_data: url = '' } = part.file;
      return fileAt(url, { name: filename, param: `${param}.file.file_data` });
    }
  }
}

/** An image of a data: URL, or a link. */
export const imageAt = (url: string, param: string): Part =>
  linkPart({ kind: 'image', url }) ?? { type: 'image', ...fromDataUrl(url, param) };

export const fileAt = (
  url: string,
  { name, param }: { readonly name: string | undefined; readonly param: string },
): Part =>
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
