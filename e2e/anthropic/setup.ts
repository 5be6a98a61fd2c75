/** A server whose model repeats messages or makes the calls they name, and a client of it. */
import type Anthropic from '@anthropic-ai/sdk';
import { repeating } from '../exchange.ts';
import { modelServer } from '../model-server.ts';
import { anthropicClient } from './client.ts';

export type Message = Anthropic.Beta.BetaMessageParam;

export const user = (content: string): Message => ({ role: 'user', content });

export const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

export async function messagesServer() {
  const served = await modelServer(repeating);
  const client = anthropicClient(served.server.http);
  return {
    ...served,
    client,
    ask: (messages: Message[], more: Partial<Anthropic.Beta.MessageCreateParamsNonStreaming> = {}) =>
      client.beta.messages.create({ model: 'fake', max_tokens: 100, messages, ...more }).withResponse(),
  };
}
