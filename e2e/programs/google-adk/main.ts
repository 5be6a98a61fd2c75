/** Google's Agent Development Kit: a remote agent over A2A, with the client of version 0.3 that it brings. */
import assert from 'node:assert/strict';
import type { Answer, ChatRequest } from '../../scripted-model.ts';
import { againstServer } from '../against-server.ts';

const PACKAGES = ['@google/adk@2.0.0', '@a2a-js/sdk@0.3.14'];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { say: 'The file is there.' };
  const text = JSON.stringify(last?.content ?? '');
  if (text.includes('touch')) return { call: 'shell', input: { command: ['touch', 'file'] } };
  return { say: text.includes('name') ? 'You are Ada.' : 'Hello, Ada.' };
}

const adk = (http: string) => `
import { InMemoryRunner, RemoteA2AAgent } from '@google/adk';

const agent = new RemoteA2AAgent({ name: 'parlance', description: 'Answers.', agentCard: '${http}' });
const runner = new InMemoryRunner({ agent, appName: 'test' });
const session = await runner.sessionService.createSession({ appName: 'test', userId: 'ada' });
for (const text of ['I am Ada.', 'What is my name?']) {
  const newMessage = { role: 'user', parts: [{ text }] };
  let said = '';
  for await (const { content, partial, errorMessage } of runner.runAsync({ userId: 'ada', sessionId: session.id, newMessage })) {
    if (errorMessage) throw new Error(errorMessage);
    const words = (content?.parts ?? []).map((part) => part.text ?? '').join('');
    if (words.includes('Ada')) said = words;
  }
  console.log(said);
}
`;

const client = (http: string) => `
import { ClientFactory } from '@a2a-js/sdk/client';

const client = await new ClientFactory().createFromUrl('${http}');
const message = (text, about = {}) => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...about },
});
const kinds = [];
let text = '';
for await (const event of client.sendMessageStream(message('hello'))) {
  kinds.push(event.kind);
  if (event.kind === 'artifact-update') text += event.artifact.parts.map((part) => part.text).join('');
}
console.log(kinds[0], kinds.at(-1), text);
const waiting = await client.sendMessage(message('touch it'));
console.log(waiting.status.state);
const done = await client.sendMessage(message('yes', { taskId: waiting.id, contextId: waiting.contextId }));
console.log(done.status.state, done.id === waiting.id, done.artifacts[0].parts[0].text);
console.log((await client.getTask({ id: done.id })).kind);
`;

await againstServer('google-adk', PACKAGES, answerTo, async ({ http, run }) => {
  assert.deepEqual(await run('client', client(http)), [
    'task status-update Hello, Ada.',
    'input-required',
    'completed true The file is there.',
    'task',
  ]);
  assert.deepEqual(await run('adk', adk(http)), ['Hello, Ada.', 'You are Ada.']);
});
