/** A server whose model repeats what is said or calls what it is asked to call, and a client of it. */
import type Anthropic from '@anthropic-ai/sdk';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, fakeModel } from '../fake-model.ts';
import { durableOf } from '../server-process.ts';
import { anthropicClient } from './client.ts';

export type Message = Anthropic.Beta.BetaMessageParam;

export const user = (content: string): Message => ({ role: 'user', content });

export const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

/** Repeats the last message of the user; calls what it is told to call. */
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

export type Place = Awaited<ReturnType<typeof startPlace>>;

export async function startPlace() {
  const model = fakeModel((request) => answerTo(request));
  const server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  const client = anthropicClient(server.http);
  return {
    model,
    server,
    client,
    ask: (messages: Message[], more: Partial<Anthropic.Beta.MessageCreateParamsNonStreaming> = {}) =>
      client.beta.messages.create({ model: 'fake', max_tokens: 100, messages, ...more }).withResponse(),
    turnsOf: async (session: string): Promise<number> =>
      (await durableOf(server, session)).filter(({ type }) => type === 'turn.started').length,
    /** The roles and contents of the last prompt. */
    prompt: () => model.requests.at(-1)?.messages.map(({ role, content }) => [role, content]) ?? [],
    async stop() {
      await server.stop();
      model.stop();
    },
  };
}
