/** One session, continued in this dialect and in others. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { DRIVERS } from '../drivers.ts';
import { openaiClient } from '../openai/client.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { followed, getJson, postJson } from '../server-process.ts';
import { chatWith, historyOf, serverCalls, shown, textOf, textsOf } from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let headers: Record<string, string>;
let token: string;

beforeAll(async () => {
  model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return { say: 'Done.' };
    const text = String(last?.content ?? '');
    return text.startsWith('touch')
      ? { call: 'shell', input: { command: ['touch', `${text.split(' ')[1]}.txt`] } }
      : { say: `re: ${text}` };
  });
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  token = await server.login('dev', 'dev-password');
  headers = { authorization: `Bearer ${token}` };
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const open = async (id: string) =>
  chatWith({
    server,
    id,
    transport: { headers },
    messages: await historyOf(server.http, id, headers).catch(() => []),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });

async function native(session: string, text: string): Promise<string> {
  const command = { type: 'input.submit', parts: [{ type: 'text', text }] };
  const { body } = await postJson(`${server.http}/v1/sessions/${session}/commands`, command, headers);
  const { facts } = body as { facts: { type: string; input?: string }[] };
  const input = facts.find(({ type }) => type === 'input.accepted')?.input ?? '';
  const isAnswered = (events: readonly { type: string }[]) => {
    const at = events.findIndex((event) => 'input' in event && event.input === input);
    return at >= 0 && events.slice(at).some(({ type }) => type === 'turn.ended');
  };
  await followed({ http: server.http, headers }, session, isAnswered);
  return input;
}

const conversation = async (session: string): Promise<string[]> =>
  (
    await getJson<{ role: string; content: string }[]>(
      `${server.http}/v1/conversations/${session}/messages`,
      headers,
    )
  ).map(({ role, content }) => `${role}: ${content}`);

const promptOf = (): string => JSON.stringify(model.requests.at(-1)?.messages);

test('a chat continues natively and in conversations, and back', async () => {
  const id = 'around';
  const chat = await open(id);
  await chat.sendMessage({ text: 'one' });
  const input = await native(id, 'two');
  expect(promptOf()).toContain('re: one');
  const socket = await DRIVERS.conversations?.(server, id, token);
  socket?.say('three');
  expect(await socket?.answer()).toBe('re: three');
  // The page is behind: messages from elsewhere are part of the next prompt.
  await chat.sendMessage({ text: 'four' });
  expect(promptOf()).toContain('three');
  const again = await open(id);
  expect(textsOf(again)).toEqual([
    'user: one',
    'assistant: re: one',
    'user: two',
    'assistant: re: two',
    'user: three',
    'assistant: re: three',
    'user: four',
    'assistant: re: four',
  ]);
  expect(again.messages[2]?.id).toBe(input);
  expect(again.messages[7]?.id).toBe(chat.lastMessage?.id ?? 'none');
  expect(await conversation(id)).toEqual(textsOf(again));
  const listed = await getJson<{ sessions: { id: string }[] }>(`${server.http}/v1/sessions`, headers);
  expect(listed.sessions.map((session) => session.id)).toContain(id);
});

test.each(Object.keys(DRIVERS))('a chat from %s is loaded, continued and edited', async (dialect) => {
  const id = `from-${dialect}`;
  if (dialect === 'conversations') await native(id, 'zero');
  const driver = await DRIVERS[dialect]?.(server, id, token);
  driver?.say('one');
  await driver?.answer();
  const chat = await open(id);
  const count = chat.messages.length;
  expect(chat.messages.slice(-2).map(textOf)).toEqual(['one', 're: one']);
  await chat.sendMessage({ text: 'two' });
  expect(promptOf()).toContain('re: one');
  expect(await driver?.answer()).toContain('re: two');
  const { id: messageId } = chat.messages[count - 2] ?? {};
  await chat.sendMessage({ text: 'uno', messageId });
  expect(chat.messages.slice(count - 2).map(textOf)).toEqual(['uno', 're: uno']);
  expect(promptOf()).not.toContain('two');
  expect((await historyOf(server.http, id, headers)).map(textOf)).toEqual(chat.messages.map(textOf));
});

test('imported history is shown as messages', async () => {
  const client = openaiClient(server.http, { key: token, session: 'taken over' });
  await client.chat.completions.create({
    model: 'parlance',
    messages: [
      { role: 'user', content: 'earlier' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'clock', arguments: '{"zone":"utc"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'seven' },
      { role: 'assistant', content: 'It is seven.' },
      { role: 'user', content: 'and now?' },
    ],
  });
  const chat = await open('taken over');
  expect(chat.messages.map(textOf)).toEqual([
    'earlier',
    'Let me see.|It is seven.',
    'and now?',
    're: and now?',
  ]);
  expect(chat.messages[1]?.parts[1]).toMatchObject({
    toolName: 'clock',
    state: 'output-available',
    output: 'seven',
  });
  await chat.regenerate();
  expect(promptOf()).toContain('It is seven.');
  expect(chat.messages).toHaveLength(4);
});

test('an approval of another dialect is answered here, and vice versa', async () => {
  const id = 'approvals';
  const driver = await DRIVERS.agentloop?.(server, id, token);
  driver?.say('touch first');
  await driver?.asked();
  const chat = await open(id);
  const [call] = serverCalls(chat);
  expect(call?.state).toBe('approval-requested');
  await chat.addToolApprovalResponse({ id: call?.approval?.id ?? '', approved: true });
  expect(await driver?.answer()).toBe('Done.');
  await until(() => chat.status === 'ready' && textOf(chat.lastMessage) === 'Done.');

  await chat.sendMessage({ text: 'touch second' });
  expect(serverCalls(chat)[0]?.state).toBe('approval-requested');
  await driver?.asked();
  driver?.approve();
  await driver?.answer();
  const again = await open(id);
  expect(textsOf(again).at(-1)).toBe('assistant: Done.');
  expect(serverCalls(again)).toMatchObject([{ state: 'output-available', approval: { approved: true } }]);
  expect(shown(again.messages.slice(0, 2))).toEqual(shown(chat.messages.slice(0, 2)));
});
