/** A server whose model repeats messages or makes the calls they name, and a client of it. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Answer, ChatRequest } from '../fake-model.ts';
import { modelServer } from '../model-server.ts';
import { anthropicClient } from './client.ts';

export type Message = Anthropic.Beta.BetaMessageParam;

export const user = (content: string): Message => ({ role: 'user', content });

export const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

/** Repeats the last user message, or makes the call that it names. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.findLast(({ role }) => role !== 'system');
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') {
    const results = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
    return { say: `It is ${results.filter(({ role }) => role === 'tool').map(({ content }) => content)}.` };
  }
  if (text.startsWith('both'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ],
    };
  if (text.startsWith('weather')) return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('now')) return { call: 'weather', input: {} };
  if (text.startsWith('echo')) return { call: 'echo', input: { value: 'seen' } };
  return { say: `You said ${text}.`, think: 'Hm.' };
}

export async function messagesServer() {
  const served = await modelServer(answerTo);
  const client = anthropicClient(served.server.http);
  return {
    ...served,
    client,
    ask: (messages: Message[], more: Partial<Anthropic.Beta.MessageCreateParamsNonStreaming> = {}) =>
      client.beta.messages.create({ model: 'fake', max_tokens: 100, messages, ...more }).withResponse(),
  };
}
