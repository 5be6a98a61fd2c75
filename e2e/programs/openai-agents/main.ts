/**
 * The OpenAI Agents SDK: an agent with a tool, in a session of the Conversations API, in one that is compacted, and over
 * a WebSocket.
 */
import assert from 'node:assert/strict';
import type { Answer, ChatRequest } from '../../scripted-model.ts';
import { againstServer } from '../against-server.ts';

const PACKAGES = ['@openai/agents@0.20.0', 'ws@8.22.2', 'zod@4.6.7'];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (JSON.stringify(messages[0]?.content).includes('Summarise')) return { say: 'They spoke of Rome.' };
  if (last?.role === 'tool') return { say: `It is ${String(last.content)}.` };
  if (text.includes('weather')) return { call: 'weather', input: { city: 'Rome' } };
  const said = JSON.stringify(messages.slice(1));
  return { say: said.includes('Rome') ? 'You asked about Rome.' : 'I know nothing.' };
}

const program = (http: string) => `
import {
  Agent, OpenAIConversationsSession, OpenAIProvider, OpenAIResponsesCompactionSession, run, Runner, setDefaultOpenAIClient,
  setTracingDisabled, tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { WebSocket } from 'ws';
import { z } from 'zod';

// Node 20 has none.
globalThis.WebSocket ??= WebSocket;

setTracingDisabled(true);
const client = new OpenAI({ baseURL: '${http}/openai/v1', apiKey: 'none' });
setDefaultOpenAIClient(client);
const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => 'sunny in ' + city,
});
const agent = new Agent({ name: 'Guide', model: 'parlance', instructions: 'Be brief.', tools: [weather] });

const session = new OpenAIConversationsSession({ client });
console.log((await run(agent, 'The weather?', { session })).finalOutput);
console.log((await run(agent, 'What did I ask about?', { session })).finalOutput);
console.log((await session.getItems()).map(({ type, role }) => role ?? type).join(' '));
const popped = await session.popItem();
console.log(popped.role, (await session.getItems()).length);
await session.clearSession();

const compacted = new OpenAIResponsesCompactionSession({ client, model: 'gpt-5.2', shouldTriggerCompaction: () => true });
console.log((await run(agent, 'The weather?', { session: compacted })).finalOutput);
console.log((await compacted.getItems()).map(({ type, role }) => role ?? type).join(' '));
console.log((await run(agent, 'What did I ask about?', { session: compacted })).finalOutput);

const modelProvider = new OpenAIProvider({ openAIClient: client, useResponses: true, useResponsesWebSocket: true });
const runner = new Runner({ modelProvider });
console.log((await runner.run(agent, 'The weather?')).finalOutput);
await modelProvider.close?.();
process.exit(0);
`;

await againstServer('openai-agents', PACKAGES, answerTo, async ({ http, run }) => {
  assert.deepEqual(await run('program', program(http)), [
    'It is sunny in Rome.',
    'You asked about Rome.',
    'user function_call function_call_result assistant user assistant',
    'assistant 5',
    'It is sunny in Rome.',
    'user compaction',
    'You asked about Rome.',
    'It is sunny in Rome.',
  ]);
});
