/**
 * The AI SDK 5, 6 and 7 with its providers for OpenAI and Anthropic: texts, streams, tools, and conversations that refer
 * to stored items. Each conversation is one session. A permanent refusal of the model's vendor is one request.
 */
import assert from 'node:assert/strict';
import type { Answer, ChatRequest } from '../../scripted-model.ts';
import { againstServer } from '../against-server.ts';

const VERSIONS = {
  5: ['ai@5.0.277', '@ai-sdk/openai@2.0.130', '@ai-sdk/anthropic@2.0.112', 'zod@4.6.7'],
  6: ['ai@6.0.322', '@ai-sdk/openai@3.0.141', '@ai-sdk/anthropic@3.0.137', 'zod@4.6.7'],
  7: ['ai@7.0.169', '@ai-sdk/openai@4.0.115', '@ai-sdk/anthropic@4.0.102', 'zod@4.6.7'],
} as const;

/** Statuses with which a model API refuses a request for good. */
const REFUSALS = [400, 401, 403, 404, 413, 422];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  const [, status] = /refuse (\d+)/.exec(text) ?? [];
  if (status) return { status: Number(status), message: 'temperature must be 1' };
  if (last?.role === 'tool') return { say: `It is ${String(last.content)}.` };
  if (text.includes('weather')) return { call: 'weather', input: { city: 'Rome' } };
  return { say: `Turn ${messages.filter(({ role }) => role === 'user').length}.`, think: 'Hm.' };
}

const head = (http: string): string => `
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import * as ai from 'ai';
import { z } from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false;
const { generateText, streamText, tool } = ai;
const steps = ai.isStepCount ?? ai.stepCountIs;
const openai = createOpenAI({ baseURL: '${http}/openai/v1', apiKey: 'none' });
const anthropic = createAnthropic({ baseURL: '${http}/anthropic/v1', apiKey: 'none' });
const models = [openai('parlance'), openai.chat('parlance'), anthropic('parlance')];
`;

const CONVERSATIONS = `
const weather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => 'sunny in ' + city,
});
for (const model of models) {
  const messages = [];
  const say = async (content, more = {}) => {
    messages.push({ role: 'user', content });
    const result = await generateText({ model, messages, ...more });
    messages.push(...(result.responseMessages ?? result.response.messages));
    return result.text;
  };
  const lines = [await say('hello'), await say('weather', { tools: { weather }, stopWhen: steps(3) })];
  messages.push({ role: 'user', content: 'bye' });
  lines.push(await streamText({ model, messages }).text);
  console.log(lines.join(' | '));
}
`;

const REFUSED = `
for (const model of models)
  for (const status of ${JSON.stringify(REFUSALS)}) {
    const prompt = 'refuse ' + status;
    const whole = await generateText({ model, prompt }).then(() => 'answered', (error) => error.statusCode);
    let streamed;
    await streamText({ model, prompt, onError: ({ error }) => { streamed = error.statusCode; } }).consumeStream();
    console.log([status, whole, streamed].join(' '));
  }
`;

for (const [version, packages] of Object.entries(VERSIONS))
  await againstServer(`ai-sdk-${version}`, packages, answerTo, async ({ http, model, run, sessions }) => {
    const expected = 'Turn 1. | It is sunny in Rome. | Turn 3.';
    const said = await run('conversations', head(http) + CONVERSATIONS);
    assert.deepEqual(said, [expected, expected, expected], version);
    assert.equal(await sessions(), 3, 'each conversation is one session');

    const before = model.requests.length;
    const lines = await run('refused', head(http) + REFUSED);
    const told = (status: number) => (status === 422 ? 400 : status);
    const each = REFUSALS.map((status) => `${status} ${told(status)} ${told(status)}`);
    assert.deepEqual(lines, [...each, ...each, ...each], version);
    assert.equal(
      model.requests.length - before,
      2 * lines.length,
      'one request for each, whole and streamed',
    );
    console.log(`AI SDK ${version}: passed`);
  });
