/** Sessions of MCP clients are ordinary sessions. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { DRIVERS } from '../drivers.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed } from '../server-process.ts';
import { connect, ERAS, type McpClient } from './clients.ts';

let model: ScriptedModel;
let server: TestServer;
const clients: McpClient[] = [];

beforeAll(async () => {
  model = scriptedModel(({ messages }) => ({ say: `re: ${String(messages.at(-1)?.content)}` }));
  server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

describe.each(ERAS)('in %s', (era) => {
  const open = async (token?: string) => {
    const client = await connect(era, server.http, { token });
    clients.push(client);
    return client;
  };

  test('a session continues in conversations and natively, and back', async () => {
    const token = await server.login('dev', 'dev-password');
    const mcp = await open(token);
    const { session } = await mcp.turn('send_message', { text: 'here' });

    const conversations = await DRIVERS.conversations?.(server, session, token);
    if (!conversations) throw new Error('no driver');
    conversations.say('in conversations');
    expect(await conversations.answer()).toBe('re: in conversations');
    conversations.client.close();

    const command = { type: 'input.submit', parts: [{ type: 'text', text: 'natively' }] };
    await fetch(`${server.http}/v1/sessions/${session}/commands`, {
      method: 'POST',
      headers: bearer(token),
      body: JSON.stringify(command),
    });
    const where = { http: server.http, headers: bearer(token) };
    await followed(
      where,
      session,
      (events) => events.filter(({ type }) => type === 'turn.ended').length === 3,
    );

    await mcp.turn('send_message', { text: 'and back', session });
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).toContain('in conversations');
    expect(prompt).toContain('natively');

    const said = [
      'here',
      're: here',
      'in conversations',
      're: in conversations',
      'natively',
      're: natively',
      'and back',
      're: and back',
    ];
    const { structuredContent } = await mcp.call('read_session', { session });
    const { messages } = structuredContent as { messages: { text: string }[] };
    expect(messages.map(({ text }) => text)).toEqual(said);
    const elsewhere = await fetch(`${server.http}/v1/conversations/${session}/messages`, {
      headers: bearer(token),
    });
    const listed = (await elsewhere.json()) as { content: string }[];
    expect(listed.map(({ content }) => content)).toEqual(said);
  });

  test('another user finds nothing, and can use the same id for an own session', async () => {
    const owner = await open(await server.login('dev', 'dev-password'));
    const session = `shared ${era}`;
    await owner.turn('send_message', { text: 'the secret', session });
    const stranger = await open(await server.login('uma', 'uma-password'));
    expect(JSON.stringify(await stranger.call('list_sessions'))).not.toContain('secret');
    expect((await stranger.call('read_session', { session })).isError).toBeTrue();
    expect((await stranger.call('cancel_turn', { session })).isError).toBeTrue();
    const own = await stranger.turn('send_message', { text: 'mine', session });
    expect(own.session).toBe(session);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('secret');
    const { structuredContent } = await owner.call('read_session', { session });
    expect(JSON.stringify(structuredContent)).not.toContain('mine');
  });

  test('fifty concurrent calls do not mix', async () => {
    const [one, other] = [await open(), await open()];
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const turns = await Promise.all(
      numbers.map((number) => {
        const seen: string[] = [];
        const onprogress = ({ message = '' }) => void seen.push(message);
        const client = number % 2 === 0 ? one : other;
        return client
          .turn('send_message', { text: `number ${number}!` }, { onprogress })
          .then((turn) => ({ ...turn, seen }));
      }),
    );
    for (const [number, { text, seen }] of turns.entries()) {
      expect(text).toBe(`re: number ${number}!`);
      for (const part of seen) expect(text).toStartWith(part);
    }
    expect(new Set(turns.map(({ session }) => session)).size).toBe(50);
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  test('concurrent messages to one session are consecutive turns', async () => {
    const client = await open();
    const session = `queue ${era}`;
    const words = ['a', 'b', 'c', 'd', 'e'];
    const turns = await Promise.all(words.map((text) => client.turn('send_message', { text, session })));
    expect(turns.map(({ text }) => text)).toEqual(words.map((word) => `re: ${word}`));
    const events = await durableOf(server, encodeURIComponent(session));
    expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(5);
  });
});
