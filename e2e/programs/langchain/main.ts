/** The LangChain snippet of the guide, then a stream, a tool of the caller, and the Responses API, with `@langchain/openai`. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { description } from '../../../packages/server/src/dialects/openai/describe.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { getJson, startProcess } from '../../server-process.ts';
import { installed } from '../install.ts';

const PACKAGES = ['@langchain/openai@1.6.0', '@langchain/core@1.2.13'];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${String(last.content)}.` };
  if (text.includes('weather')) return { call: 'weather', input: { city: 'Rome' } };
  return { say: 'one two three' };
}

const folder = await installed('langchain', PACKAGES);
const work = mkdtempSync(join(tmpdir(), 'parlance-langchain-'));
const model = scriptedModel(answerTo);
const server = await startProcess(work, { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });

async function run(name: string, code: string): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, code);
  const child = Bun.spawn(['node', file], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PARLANCE_TOKEN: 'none' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [code_, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  assert.equal(code_, 0, `${name}\n${out}\n${err}`);
  return out.trim();
}

const snippet = description.scripts?.find(({ title }) => title.startsWith('LangChain'))?.code ?? '';

const MORE = `
import { ChatOpenAI } from '@langchain/openai';
import { tool } from '@langchain/core/tools';
import { HumanMessage } from '@langchain/core/messages';

const options = { model: 'parlance', apiKey: 'none', configuration: { baseURL: '${server.http}/openai/v1' } };
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

try {
  assert.equal(await run('guide', snippet.replaceAll('{{origin}}', server.http)), 'one two three');
  const lines = (await run('more', MORE)).split('\n');
  assert.deepEqual(lines, ['one two three', 'It is sunny in Rome.', 'one two three', 'It is sunny in Rome.']);
  const { sessions } = await getJson<{ sessions: object[] }>(`${server.http}/v1/sessions`);
  // Results continue the session of their calls.
  assert.equal(sessions.length, 5);
} finally {
  await server.kill();
  model.stop();
  rmSync(work, { recursive: true, force: true });
}
