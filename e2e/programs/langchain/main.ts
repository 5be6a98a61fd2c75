/** The LangChain snippet of the guide, then a stream, a tool of the caller, and the Responses API, with `@langchain/openai`. */
import assert from 'node:assert/strict';
import { description } from '../../../packages/server/src/dialects/openai/describe.ts';
import type { Answer, ChatRequest } from '../../scripted-model.ts';
import { againstServer } from '../against-server.ts';

const PACKAGES = ['@langchain/openai@1.6.0', '@langchain/anthropic@1.5.11', '@langchain/core@1.2.13'];

/** Statuses with which a model API refuses a request for good. */
const REFUSALS = [400, 401, 402, 403, 404, 413, 422];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  const [, status] = /refuse (\d+)/.exec(text) ?? [];
  if (status) return { status: Number(status), message: 'temperature must be 1' };
  if (last?.role === 'tool') return { say: `It is ${String(last.content)}.` };
  if (text.includes('weather')) return { call: 'weather', input: { city: 'Rome' } };
  return { say: 'one two three' };
}

const snippet = description.scripts?.find(({ title }) => title.startsWith('LangChain'))?.code ?? '';

const more = (http: string) => `
import { ChatOpenAI } from '@langchain/openai';
import { tool } from '@langchain/core/tools';
import { HumanMessage } from '@langchain/core/messages';

const options = { model: 'parlance', apiKey: 'none', configuration: { baseURL: '${http}/openai/v1' } };
for (const useResponsesApi of [false, true]) {
  const chat = new ChatOpenAI({ ...options, useResponsesApi });
  let text = '';
  for await (const chunk of await chat.stream('count to 3')) text += chunk.text;
  console.log(text);
  const weather = tool(({ city }) => 'sunny in ' + city, {
    name: 'weather',
    description: 'The weather of a city.',
    schema: { type: 'object', properties: { city: { type: 'string' } } },
  });
  const bound = chat.bindTools([weather]);
  const messages = [new HumanMessage('weather')];
  const asked = await bound.invoke(messages);
  messages.push(asked);
  for (const call of asked.tool_calls) messages.push(await weather.invoke(call));
  console.log((await bound.invoke(messages)).text);
}
`;

const refused = (http: string) => `
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';

const options = { model: 'parlance', apiKey: 'none' };
const configuration = { baseURL: '${http}/openai/v1' };
const models = {
  chat: new ChatOpenAI({ ...options, configuration }),
  responses: new ChatOpenAI({ ...options, configuration, useResponsesApi: true }),
  anthropic: new ChatAnthropic({ ...options, anthropicApiUrl: '${http}/anthropic' }),
};
const statusOf = (asked) => asked.then(() => 'answered', (error) => error.status ?? error.message);
for (const [name, llm] of Object.entries(models)) {
  for (const status of ${JSON.stringify(REFUSALS)}) {
    const text = 'refuse ' + status;
    const whole = await statusOf(llm.invoke(text));
    const streamed = await statusOf((async () => { for await (const _ of await llm.stream(text)); })());
    console.log([name, status, whole, streamed].join(' '));
  }
}
`;

await againstServer('langchain', PACKAGES, answerTo, async ({ http, model, run, sessions }) => {
  assert.deepEqual(await run('guide', snippet.replaceAll('{{origin}}', http)), ['one two three']);
  assert.deepEqual(await run('more', more(http)), [
    'one two three',
    'It is sunny in Rome.',
    'one two three',
    'It is sunny in Rome.',
  ]);
  // Results continue the session of their calls.
  assert.equal(await sessions(), 5);

  const before = model.requests.length;
  const lines = await run('refused', refused(http));
  const told = (status: number) => (status === 422 ? 400 : status);
  const expected = ['chat', 'responses', 'anthropic'].flatMap((name) =>
    REFUSALS.map((status) => `${name} ${status} ${told(status)} ${told(status)}`),
  );
  assert.deepEqual(lines, expected);
  // One request for each, whole and streamed.
  assert.equal(model.requests.length - before, 2 * lines.length);
});
