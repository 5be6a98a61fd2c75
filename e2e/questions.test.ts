/** Questions of the agent in every dialect, with the official clients: answered by a message or a form, and the turn goes on. */
import { describe, expect, test } from 'bun:test';
import {
  connect as connectA2a,
  send as sendA2a,
  stateOf,
  textOf as taskText,
  wordsOfMessage,
} from './a2a/client.ts';
import { Editor } from './acp/editor.ts';
import { contentOf, httpAgent, run } from './agui/client.ts';
import { chatWith, stateTypes, textOf } from './aisdk/client.ts';
import { anthropicClient, textIn } from './anthropic/client.ts';
import { DRIVERS } from './drivers.ts';
import { connect as connectMcp, ERAS, type Form } from './mcp/clients.ts';
import { modelServer } from './model-server.ts';
import { openaiClient } from './openai/client.ts';
import type { ChatRequest } from './scripted-model.ts';
import { durableOf, getJson, login, postJson } from './server-process.ts';

const OPTIONS = [{ label: 'SQLite', description: 'One file' }, { label: 'PostgreSQL' }];

/** Asks once, then tells what was chosen. */
function script({ messages }: ChatRequest) {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const result = messages.findLast(({ role }, index) => role === 'tool' && index > at)?.content;
  if (typeof result === 'string') return { say: `Chosen: ${result}` };
  const question = { header: 'Database', question: 'Which database?', options: OPTIONS, freeText: false };
  return { call: 'ask_user', input: { questions: [question] } };
}

const { server } = await modelServer(script);
const token = await login(server, 'dev', 'dev-password');

const ASKED = 'Database: Which database?\n1. SQLite – One file\n2. PostgreSQL';
const WRONG = '"7" is none of the options.';
const CHOSEN = 'Chosen: Database: PostgreSQL';

describe('a message answers', () => {
  test.each(Object.keys(DRIVERS))('%s', async (name) => {
    const session = crypto.randomUUID();
    const headers = { authorization: `Bearer ${token}` };
    await postJson(`${server.http}/v1/sessions/${session}/commands`, { type: 'session.create' }, headers);
    const driver = await DRIVERS[name]?.(server, session, token);
    if (!driver) throw new Error('there is no such driver');
    const shows = (text: string) =>
      driver.client.next((frame) => JSON.stringify(frame).includes(JSON.stringify(text).slice(1, -1)));
    driver.say('Set it up');
    await shows(ASKED);
    driver.say('7');
    await shows(WRONG);
    driver.say('postgresql');
    await shows(CHOSEN);
  });

  test('Chat Completions', async () => {
    const client = openaiClient(server.http);
    const messages: { role: 'user' | 'assistant'; content: string }[] = [
      { role: 'user', content: 'Set it up' },
    ];
    const say = async (text?: string): Promise<string> => {
      if (text !== undefined) messages.push({ role: 'user', content: text });
      const { choices } = await client.chat.completions.create({ model: 'fake', messages });
      const content = choices[0]?.message.content ?? '';
      expect(choices[0]?.finish_reason).toBe('stop');
      messages.push({ role: 'assistant', content });
      return content;
    };
    expect(await say()).toStartWith(ASKED);
    expect(await say('7')).toStartWith(WRONG);
    expect(await say('2')).toBe(CHOSEN);
  });

  test('Responses', async () => {
    const client = openaiClient(server.http);
    const first = await client.responses.create({ model: 'fake', input: 'Set it up' });
    expect(first.output_text).toStartWith(ASKED);
    expect(first.status).toBe('completed');
    const wrong = await client.responses.create({
      model: 'fake',
      input: '7',
      previous_response_id: first.id,
    });
    expect(wrong.output_text).toStartWith(WRONG);
    const last = await client.responses.create({ model: 'fake', input: '2', previous_response_id: wrong.id });
    expect(last.output_text).toBe(CHOSEN);
  });

  test('Messages', async () => {
    const client = anthropicClient(server.http);
    const messages: { role: 'user' | 'assistant'; content: string }[] = [];
    const say = async (text: string): Promise<string> => {
      messages.push({ role: 'user', content: text });
      const answer = textIn(await client.messages.create({ model: 'fake', max_tokens: 1_000, messages }));
      messages.push({ role: 'assistant', content: answer });
      return answer;
    };
    expect(await say('Set it up')).toStartWith(ASKED);
    expect(await say('PostgreSQL')).toBe(CHOSEN);
  });

  test('AG-UI', async () => {
    const agent = httpAgent(server.http);
    const asked = await run(agent, 'Set it up');
    expect(asked.outcome).toMatchObject({ type: 'interrupt', interrupts: [{ reason: 'input_required' }] });
    expect(contentOf(agent.messages, 'assistant').join()).toContain(ASKED);
    const interruptId = asked.outcome?.interrupts?.[0]?.id ?? '';
    await run(agent, null, { resume: [{ interruptId, status: 'resolved', payload: '2' }] });
    expect(contentOf(agent.messages, 'assistant').at(-1)).toBe(CHOSEN);
  });

  test('AI SDK', async () => {
    const chat = chatWith({ server });
    await chat.sendMessage({ text: 'Set it up' });
    expect(textOf(chat.lastMessage)).toStartWith(ASKED);
    await chat.sendMessage({ text: '2' });
    expect(textOf(chat.lastMessage)).toBe(CHOSEN);
  });

  test('ACP', async () => {
    await using editor = new Editor({ env: { PARLANCE_URL: server.http }, cwd: server.root });
    const session = await editor.newSession(server.root);
    expect(await editor.prompt(session, 'Set it up')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(session)).toStartWith(ASKED);
    expect(await editor.prompt(session, '2')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(session)).toEndWith(CHOSEN);
  });

  test('A2A', async () => {
    const client = await connectA2a(server.http);
    const asked = await sendA2a(client, 'Set it up');
    expect(stateOf(asked)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(wordsOfMessage(asked.status?.message)).toStartWith(ASKED);
    const { id: taskId, contextId } = asked;
    const wrong = await sendA2a(client, '7', { taskId, contextId });
    expect(wordsOfMessage(wrong.status?.message)).toStartWith(WRONG);
    const done = await sendA2a(client, '2', { taskId, contextId });
    expect(stateOf(done)).toBe('TASK_STATE_COMPLETED');
    expect(taskText(done)).toBe(CHOSEN);
  });

  test.each(ERAS)('MCP without forms in %s', async (era) => {
    const client = await connectMcp(era, server.http);
    const asked = await client.turn('send_message', { text: 'Set it up' });
    expect(asked).toMatchObject({ status: 'waiting', text: expect.stringContaining(ASKED) });
    const done = await client.turn('send_message', { text: '2', session: asked.session });
    expect(done).toMatchObject({ status: 'done', text: CHOSEN });
    await client.close();
  });
});

describe('a form answers', () => {
  test.each(ERAS)('MCP in %s', async (era) => {
    const forms: Form[] = [];
    const client = await connectMcp(era, server.http, {
      onForm: (form) => {
        forms.push(form);
        return { action: 'accept', content: { '1': 'PostgreSQL' } as never };
      },
    });
    const done = await client.turn('send_message', { text: 'Set it up' });
    expect(done).toMatchObject({ status: 'done', text: expect.stringContaining(CHOSEN) });
    expect(forms).toMatchObject([
      {
        message: 'Which database?',
        requestedSchema: { properties: { '1': { enum: ['SQLite', 'PostgreSQL'] } } },
      },
    ]);
    await client.close();
  });

  test('AG-UI', async () => {
    const agent = httpAgent(server.http);
    const { outcome } = await run(agent, 'Set it up');
    const [interrupt] = outcome?.interrupts ?? [];
    expect(interrupt?.responseSchema).toMatchObject({ properties: { '1': { type: 'string' } } });
    const resume = [
      { interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { '1': 'PostgreSQL' } },
    ];
    await run(agent, null, { resume });
    expect(contentOf(agent.messages, 'assistant').at(-1)).toBe(CHOSEN);
  });

  test('AI SDK', async () => {
    const chat = chatWith({ server });
    await chat.sendMessage({ text: 'Set it up' });
    expect(stateTypes(chat.lastMessage)).toContain('tool-ask_user input-available');
    const call = chat.lastMessage?.parts.find((part) => part.type === 'tool-ask_user');
    const toolCallId = call && 'toolCallId' in call ? call.toolCallId : '';
    await chat.addToolOutput({ tool: 'ask_user', toolCallId, output: { '1': 'PostgreSQL' } });
    await chat.sendMessage();
    expect(textOf(chat.lastMessage)).toEndWith(CHOSEN);
  });

  test('native', async () => {
    const session = crypto.randomUUID();
    const http = `${server.http}/v1`;
    await postJson(`${http}/sessions/${session}/commands`, {
      type: 'input.submit',
      parts: [{ type: 'text', text: 'Set it up' }],
    });
    type List = { questions: { id: string; session: string }[] };
    let id: string | undefined;
    while (!id)
      id = (await getJson<List>(`${http}/questions`)).questions.find((one) => one.session === session)?.id;
    const answer = (body: object) => postJson(`${http}/questions/${id}`, body);
    expect((await answer({ answers: { '1': ['MySQL'] } })).status).toBe(400);
    expect((await answer({ answers: { '1': ['PostgreSQL'] } })).status).toBe(200);
    expect((await answer({ answers: { '1': ['SQLite'] } })).status).toBe(409);
    const events = await durableOf(server, session);
    expect(events.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
  });
});
