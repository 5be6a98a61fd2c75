/** The LangChain snippet of the guide, then a stream, a tool of the caller, and the Responses API, with `@langchain/openai`. */
import assert from 'node:assert/strict';
import { description } from '../../../packages/server/src/dialects/openai/describe.ts';
import type { Answer, ChatRequest } from '../../scripted-model.ts';
import { againstServer } from '../against-server.ts';

const PACKAGES = ['@langchain/openai@1.6.0', '@langchain/core@1.2.13'];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
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

await againstServer('langchain', PACKAGES, answerTo, async ({ http, run, sessions }) => {
  assert.deepEqual(await run('guide', snippet.replaceAll('{{origin}}', http)), ['one two three']);
  assert.deepEqual(await run('more', more(http)), [
    'one two three',
    'It is sunny in Rome.',
    'one two three',
    'It is sunny in Rome.',
  ]);
  // Results continue the session of their calls.
  assert.equal(await sessions(), 5);
});
