/** Converts the UI messages of a request to the core. */
import {
  type CallId,
  Fault,
  type HistoryItem,
  isObject,
  type JsonObject,
  type Part,
  textPart,
} from '@parlance/protocol';
import { importable } from '../shared/exchange/history.ts';
import { filePart } from './files.ts';
import { FilePart, type Message, TextPart, ToolPart } from './schemas.ts';

/** The content of a user message. Throws `invalid` or `empty` if it has no usable content. */
export function userParts({ parts }: Message): Part[] {
  const used = parts.flatMap((part) => userPart(part) ?? []);
  if (used.length === 0) throw new Fault('empty', 'The message is empty.');
  return used;
}

function userPart(part: Message['parts'][number]): Part | null {
  if (part.type === 'text') {
    const { success, data } = TextPart.safeParse(part);
    if (!success) throw new Fault('invalid', 'A text part of the message has no text.');
    return textPart(data.text);
  }
  if (part.type !== 'file') return null;
  const { success, data } = FilePart.safeParse(part);
  if (!success) throw new Fault('invalid', 'A file part of the message has no url.');
  return filePart(data);
}

/** Instructions of the page, which replace those of the agent; undefined if there are none. */
export function instructionsOf(messages: readonly Message[], system?: string | null): string | undefined {
  const texts = messages.filter(({ role }) => role === 'system').map(textsOf);
  if (system) texts.unshift(system);
  return texts.length > 0 ? texts.join('\n\n') : undefined;
}

const textsOf = ({ parts }: Message): string =>
  parts.flatMap((part) => TextPart.safeParse(part).data?.text ?? []).join('\n');

const isTool = ({ type }: { readonly type: string }): boolean =>
  type === 'dynamic-tool' || type.startsWith('tool-');

/** The calls in an assistant message that have an answer there. */
export const answeredCalls = ({ parts }: Message): ToolPart[] =>
  parts.filter(isTool).flatMap((part) => ToolPart.safeParse(part).data ?? []);

/** The ids of calls in the message without an outcome. */
export function openCalls(message: Message): string[] {
  const over = new Set(
    answeredCalls(message).flatMap((part) => (part.state === 'approval-responded' ? [] : [part.toolCallId])),
  );
  return message.parts
    .filter(isTool)
    .flatMap(({ toolCallId }) =>
      typeof toolCallId === 'string' && !over.has(toolCallId) ? [toolCallId] : [],
    );
}

/** Imports earlier messages. Unusable parts are left out. */
export const historyItems = (messages: readonly Message[]): HistoryItem[] =>
  importable(
    messages.flatMap((message) => (message.role === 'user' ? earlierInput(message) : answerItems(message))),
  );

function earlierInput(message: Message): HistoryItem[] {
  try {
    return [{ type: 'user', parts: userParts(message), key: message.id }];
  } catch (thrown) {
    if (thrown instanceof Fault) return [];
    throw thrown;
  }
}

function answerItems({ id, role, parts }: Message): HistoryItem[] {
  if (role === 'system') return [];
  return parts.flatMap((part): HistoryItem[] => {
    const { type, text } = part;
    if ((type === 'text' || type === 'reasoning') && typeof text === 'string' && text !== '')
      return [{ type, text, id }];
    return isTool(part) ? callItems(part, id) : [];
  });
}

function callItems(part: Message['parts'][number], id: string): HistoryItem[] {
  const call = part.toolCallId as CallId;
  const tool = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
  if (typeof call !== 'string' || call === '' || typeof tool !== 'string' || tool === '') return [];
  const input = (isObject(part.input) ? part.input : {}) as JsonObject;
  const made: HistoryItem = { type: 'call', call, tool: tool.slice(0, 200), input, id };
  const result = ToolPart.safeParse(part).data;
  if (result?.state === 'output-available')
    return [made, { type: 'result', call, parts: [textPart(outputText(result.output))], id }];
  if (result?.state === 'output-error')
    return [made, { type: 'result', call, parts: [textPart(result.errorText)], failed: true, id }];
  return [made];
}

/** An output as the model receives it. */
export const outputText = (output: unknown): string =>
  typeof output === 'string' ? output : JSON.stringify(output ?? null);
