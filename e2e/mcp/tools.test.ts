/** The tools, driven by the official clients of both eras. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import {
  type Answer,
  type ChatRequest,
  type DictatedModel,
  dictatedModel,
  type ScriptedModel,
  scriptedModel,
} from '../scripted-model.ts';
import { durableOf, followed } from '../server-process.ts';
import { connect, ERAS, type McpClient, type Progress } from './clients.ts';

function answerTo({ messages }: ChatRequest): Answer {
  const text = String(messages.at(-1)?.content ?? '');
  if (text.includes('refuse')) return { status: 400 };
  return { say: `You said ${text}.`, think: 'Hm.' };
}

let model: ScriptedModel;
let server: TestServer;
const clients: McpClient[] = [];

beforeAll(async () => {
  model = scriptedModel((request) => answerTo(request));
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

describe.each(ERAS)('in %s', (era) => {
  const open = async () => {
    const client = await connect(era, server.http);
    clients.push(client);
    return client;
  };

  test('the server reports its name and capabilities', async () => {
    const { client } = await open();
    expect(client.getServerVersion()).toMatchObject({ name: 'parlance' });
    expect(client.getServerCapabilities()).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
    });
  });

  test('tools have descriptions and schemas, and read-only ones are marked', async () => {
    const { client } = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'send_message',
      'answer_approval',
      'list_approvals',
      'list_sessions',
      'read_session',
      'cancel_turn',
    ]);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description).not.toBe('');
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
    }
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    expect(reading).toEqual(['list_approvals', 'list_sessions', 'read_session']);
  });

  test('a message creates a session, and the next one continues it', async () => {
    const client = await open();
    // The client validates structured content once it has listed the tools.
    await client.client.listTools();
    const result = await client.call('send_message', { text: 'one' });
    const { session } = result.structuredContent as { session: string };
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'You said one.' }],
      structuredContent: { session, turn: expect.any(String), status: 'done', text: 'You said one.' },
    });
    expect(result.isError).toBeUndefined();
    const next = await client.turn('send_message', { text: 'two', session });
    expect(next).toMatchObject({ session, status: 'done', text: 'You said two.' });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('You said one.');
    const events = await durableOf(server, session);
    expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2);
    expect(events.find(({ type }) => type === 'turn.started')).toMatchObject({
      turn: result.structuredContent?.turn,
    });
  });

  test('a session may be named by the client, and answered by another agent', async () => {
    const client = await open();
    const session = `my ${era} session`;
    expect(await client.turn('send_message', { text: 'hi', session, agent: 'coder' })).toMatchObject({
      session,
    });
    const events = await durableOf(server, encodeURIComponent(session));
    expect(events.find(({ type }) => type === 'turn.started')).toMatchObject({ agent: { id: 'coder' } });
  });

  test('sessions are listed in pages, last changed first', async () => {
    const client = await open();
    const first = await client.turn('send_message', { text: 'first of two' });
    const second = await client.turn('send_message', { text: 'second of two' });
    await client.client.listTools();
    const { structuredContent } = await client.call('list_sessions', { limit: 1 });
    const page = structuredContent as { sessions: object[]; next: string };
    expect(page.sessions).toEqual([
      {
        id: second.session,
        title: 'second of two',
        status: 'idle',
        updatedAt: expect.stringMatching(/^20.*Z$/),
      },
    ]);
    const next = await client.call('list_sessions', { limit: 1, cursor: page.next });
    expect(next.structuredContent).toMatchObject({ sessions: [{ id: first.session }] });
  });

  test('a session is read as messages, oldest first', async () => {
    const client = await open();
    await client.client.listTools();
    const { session } = await client.turn('send_message', { text: 'one' });
    await client.turn('send_message', { text: 'two', session });
    const { structuredContent } = await client.call('read_session', { session });
    const at = expect.stringMatching(/^20.*Z$/);
    expect(structuredContent).toEqual({
      messages: [
        { role: 'user', text: 'one', at },
        { role: 'assistant', text: 'You said one.', at },
        { role: 'user', text: 'two', at },
        { role: 'assistant', text: 'You said two.', at },
      ],
    });
    const latest = await client.call('read_session', { session, limit: 1 });
    expect(latest.structuredContent).toEqual({
      messages: [{ role: 'assistant', text: 'You said two.', at }],
    });
    expect(latest.content[0]?.text).toContain('You said two.');
  });

  test('a turn that fails is an error with a message', async () => {
    const client = await open();
    await client.client.listTools();
    const result = await client.call('send_message', { text: 'refuse' });
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'failed' } });
    expect(result.content[0]?.text).toMatch(/\w+ .*\.$/);
  });

  test.each([
    ['send_message', {}],
    ['send_message', { text: '' }],
    ['send_message', { text: 'hi', session: '' }],
    ['send_message', { text: 'hi', agent: 'nobody' }],
    ['read_session', { session: 'nowhere' }],
    ['read_session', { session: 'nowhere', limit: 0 }],
    ['list_sessions', { cursor: 'nonsense' }],
    ['cancel_turn', { session: 'nowhere' }],
    ['answer_approval', { approval: 'nothing', answer: 'once' }],
    ['answer_approval', { approval: 'nothing', answer: 'perhaps' }],
  ])('%s with %p is an error with a message', async (name, args) => {
    const client = await open();
    await client.client.listTools();
    const { isError, content } = await client.call(name, args);
    expect(isError).toBeTrue();
    expect(content[0]?.text).toMatch(/\w+ \w+/);
  });

  test('an unknown tool is -32602', async () => {
    const client = await open();
    await expect(client.call('destroy')).rejects.toMatchObject({ code: -32_602 });
  });
});

describe('with a dictated model', () => {
  let dictated: DictatedModel;
  let patient: TestServer;
  let slow: TestServer;
  beforeAll(async () => {
    dictated = dictatedModel();
    patient = await startTestServer(dictated.settings);
    slow = await startTestServer({ ...dictated.settings, PARLANCE_TOOL_CALL_WITHIN: '1500' });
  });
  afterAll(async () => {
    await patient.stop();
    await slow.stop();
    dictated.stop();
  });

  test.each(ERAS)('progress in %s grows and has the text so far', async (era) => {
    const client = await connect(era, patient.http);
    clients.push(client);
    const seen: Progress[] = [];
    const words = ['two ', 'three'];
    dictated.say('One ');
    const result = await client.turn(
      'send_message',
      { text: 'speak' },
      {
        onprogress: (progress) => {
          seen.push(progress);
          const word = words.shift();
          if (word === undefined) return;
          dictated.say(word);
          if (words.length === 0) dictated.end();
        },
      },
    );
    expect(result).toMatchObject({ status: 'done', text: 'One two three' });
    const messages = seen.map(({ message }) => message);
    expect(messages.slice(0, 2)).toEqual(['One ', 'One two ']);
    const values = seen.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].sort((one, other) => one - other));
    expect(client.errors).toEqual([]);
  });

  test.each(ERAS)(
    'a long turn in %s is reported as running, continues and can be read later',
    async (era) => {
      const client = await connect(era, slow.http);
      clients.push(client);
      dictated.say('Half ');
      const running = await client.turn('send_message', { text: 'think long' });
      expect(running.status).toBe('running');
      expect(running.text).toStartWith('Half ');
      const { session } = running;
      const sessions = (await client.call('list_sessions')).structuredContent as { sessions: object[] };
      expect(sessions.sessions).toContainEqual(expect.objectContaining({ id: session, status: 'running' }));
      dictated.say('and whole.');
      dictated.end();
      await followed(slow, session, (events) => events.some(({ type }) => type === 'turn.ended'));
      const read = await client.call('read_session', { session });
      expect(read.structuredContent).toMatchObject({ messages: [{}, { text: 'Half and whole.' }] });
    },
  );
});
