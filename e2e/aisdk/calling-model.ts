/** A model that makes the calls named in a message, and a page with its own tool. */
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { until } from '../../packages/server/src/testing/until.ts';
import type { Answer, ChatRequest } from '../scripted-model.ts';
import { type Chat, textOf } from './client.ts';

const TOUCH = ['shell', { command: ['touch', 'a.txt'] }] as const;
const MKDIR = ['shell', { command: ['mkdir', 'b'] }] as const;
const LOCATE = ['locate', { precise: true }] as const;

const CALLS: Readonly<Record<string, readonly (readonly [string, object])[]>> = {
  locate: [LOCATE],
  twice: [LOCATE, ['locate', { precise: false }]],
  touch: [TOUCH],
  both: [TOUCH, MKDIR],
  mixed: [TOUCH, LOCATE],
  echo: [['echo', { value: 'seen' }]],
};

/** Makes the calls named in the last message, or repeats their results. */
export function callsOf({ messages }: ChatRequest): Answer {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  if (results.some(({ content }) => content === 'nowhere')) return { say: '' };
  if (results.length > 0) return { say: `Then ${results.map(({ content }) => content).join(' and ')}.` };
  const text = String(messages.at(-1)?.content ?? '');
  return CALLS[text] ? { calls: CALLS[text] } : { say: `You said ${text}.` };
}

export const TOOLS = [
  { name: 'locate', description: 'Where the user is', inputSchema: { type: 'object', properties: {} } },
];
export const transport = { body: { tools: TOOLS } };

export const isComplete = (options: { messages: UIMessage[] }) =>
  lastAssistantMessageIsCompleteWithToolCalls(options) ||
  lastAssistantMessageIsCompleteWithApprovalResponses(options);

export const ready = async (chat: Chat): Promise<void> => {
  await until(() => chat.status !== 'submitted' && chat.status !== 'streaming');
};

/** Resolves when the chat is idle and its last message has this text. */
export const says = async (chat: Chat, text: string | RegExp): Promise<void> => {
  await until(() => textOf(chat.lastMessage).match(text) && chat.status === 'ready');
};
