/** Converts the messages of a request to a conversation of the core. */
import {
  type CallId,
  type HistoryItem,
  isObject,
  type JsonObject,
  jsonRefusal,
  type Part,
  type TurnTerms,
} from '@parlance/protocol';
import { partsOf } from './content.ts';
import type { Message, RunAgentInput } from './schemas.ts';

export type UserMessage = Extract<Message, { role: 'user' }>;
export type ToolMessage = Extract<Message, { role: 'tool' }>;

export const isUser = (message: Message): message is UserMessage => message.role === 'user';

/** The messages of a conversation, without instructions and activities. */
export const chatMessages = (messages: readonly Message[]): Message[] =>
  messages.filter(({ role }) => role !== 'system' && role !== 'developer' && role !== 'activity');

/** The terms of the turn: the client's instructions, the context of its application, and its tools. */
export function termsOf({ messages, tools, context }: RunAgentInput): TurnTerms {
  const instructions = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer' ? [message.content] : [],
  );
  const entries = (context ?? []).map(({ description, value }) => `${description}:\n${value}`);
  return {
    ...(tools && tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...(entries.length > 0 && { context: `Context of the application:\n\n${entries.join('\n\n')}` }),
  };
}

/** Terms for the rest of a turn; unchanged if the request has none. */
export function optionalTerms(run: RunAgentInput): { readonly terms?: TurnTerms } {
  const terms = termsOf(run);
  return Object.keys(terms).length > 0 ? { terms } : {};
}

const toolOf = ({ name, description, parameters }: NonNullable<RunAgentInput['tools']>[number]) => ({
  name,
  description: description ?? '',
  parameters: parameters ?? {},
});

/** Joins new messages of the user to one input. */
export const inputParts = (messages: readonly UserMessage[]): Part[] =>
  messages.flatMap(({ id, content }) => partsOf(content, `The message ${id}`));

/** Keeps the ids, so that clients recognise the messages. */
export const itemsOf = (messages: readonly Message[]): HistoryItem[] => messages.flatMap(messageItems);

function messageItems(message: Message): HistoryItem[] {
  switch (message.role) {
    case 'user':
      return [
        { type: 'user', parts: partsOf(message.content, `The message ${message.id}`), key: message.id },
      ];
    case 'assistant': {
      const { id, content, toolCalls } = message;
      return [
        ...(content ? [{ type: 'text' as const, text: content, id }] : []),
        ...(toolCalls ?? []).map(({ id: call, function: { name, arguments: input } }) => ({
          type: 'call' as const,
          call: call as CallId,
          tool: name,
          input: inputOf(input),
          id,
        })),
      ];
    }
    case 'tool':
      return [{ type: 'result', call: message.toolCallId as CallId, ...resultOf(message), id: message.id }];
    case 'reasoning':
      return message.content === '' ? [] : [{ type: 'reasoning', text: message.content, id: message.id }];
    case 'system':
    case 'developer':
    case 'activity':
      return [];
  }
}

/** The result of a front-end tool. */
export function resultOf({ id, content, error }: ToolMessage): {
  readonly parts: Part[];
  readonly failed?: true;
} {
  const parts = partsOf(content === '' && error ? error : content, `The message ${id}`);
  return error ? { parts, failed: true } : { parts };
}

/** Arguments written by a model may not be JSON: they count as empty. */
function inputOf(text: string): JsonObject {
  if (jsonRefusal(text) !== null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
