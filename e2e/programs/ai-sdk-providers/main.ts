/**
 * The AI SDK with its providers for OpenAI and Anthropic: texts, streams, tools, and conversations that refer
 * to stored items. Each conversation is one session.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { getJson, startProcess } from '../../server-process.ts';
import { installed } from '../install.ts';

const PACKAGES = ['ai@7.0.169', '@ai-sdk/openai@4.0.115', '@ai-sdk/anthropic@4.0.102', 'zod@4.6.7'];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${String(last.content)}.` };
  if (text.includes('weather')) return { call: 'weather', input: { city: 'Rome' } };
  return { say: `Turn ${messages.filter(({ role }) => role === 'user').length}.`, think: 'Hm.' };
}

const folder = await installed('ai-sdk-providers', PACKAGES);
const work = mkdtempSync(join(tmpdir(), 'parlance-ai-sdk-'));
const model = scriptedModel(answerTo);
const server = await startProcess(work, { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });

const PROGRAM = `
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';

const openai = createOpenAI({ baseURL: '${server.http}/openai/v1', apiKey: 'none' });
const anthropic = createAnthropic({ baseURL: '${server.http}/anthropic/v1', apiKey: 'none' });
const weather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => 'sunny in ' + city,
});
for (const model of [openai('parlance'), openai.chat('parlance'), anthropic('parlance')]) {
  const messages = [];
  const say = async (content, more = {}) => {
    messages.push({ role: 'user', content });
    const result = await generateText({ model, messages, ...more });
    messages.push(...result.responseMessages);
    return result.text;
  };
  const lines = [await say('hello'), await say('weather', { tools: { weather }, stopWhen: isStepCount(3) })];
  messages.push({ role: 'user', content: 'bye' });
  lines.push(await streamText({ model, messages }).text);
  console.log(lines.join(' | '));
}
`;

try {
  const file = join(folder, 'program.mjs');
  writeFileSync(file, PROGRAM);
  const child = Bun.spawn(['node', file], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [code, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  assert.equal(code, 0, out + err);
  const expected = 'Turn 1. | It is sunny in Rome. | Turn 3.';
  assert.deepEqual(out.trim().split('\n'), [expected, expected, expected]);
  const { sessions } = await getJson<{ sessions: object[] }>(`${server.http}/v1/sessions`);
  assert.equal(sessions.length, 3, 'each conversation is one session');
} finally {
  await server.kill();
  model.stop();
  rmSync(work, { recursive: true, force: true });
}
