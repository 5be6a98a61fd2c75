/** Idempotency keys and histories of several API keys of one user, and of another user. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { durableOf, postJson } from '../server-process.ts';

let server: TestServer;
const keys: Record<string, string> = {};

const make = async (user: string, name: string, limits: object = {}) => {
  const headers = { authorization: `Bearer ${await server.login(user, `${user}-password`)}` };
  const { status, body } = await postJson(`${server.http}/v1/keys`, { name, ...limits }, headers);
  expect(status).toBe(201);
  keys[name] = String(body.key);
};

beforeAll(async () => {
  server = await startTestServer();
  await make('dev', 'openai', { dialects: ['openai'] });
  await make('dev', 'anthropic', { dialects: ['anthropic'], role: 'user' });
  await make('dev', 'anything');
  await make('uma', 'stranger');
});
afterAll(() => server.stop());

type Message = { role: 'user' | 'assistant'; content: string };
const user = (content: string): Message => ({ role: 'user', content });

const PATHS = { openai: '/openai/v1/chat/completions', anthropic: '/anthropic/v1/messages' };

async function ask(
  dialect: keyof typeof PATHS,
  { key, once, messages }: { key: string; once?: string; messages: Message[] },
) {
  const response = await fetch(server.http + PATHS[dialect], {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${keys[key]}`,
      ...(once && { 'idempotency-key': once }),
    },
    body: JSON.stringify({ model: 'offline', max_tokens: 1_000, messages }),
  });
  const body = (await response.json()) as {
    error?: { message: string };
    choices?: { message: Message }[];
    content?: { text: string }[];
  };
  const text = body.choices?.[0]?.message.content ?? body.content?.[0]?.text ?? '';
  const session = response.headers.get('x-parlance-session') ?? '';
  return { status: response.status, session, text, error: body.error?.message };
}

const inputsOf = async (session: string, key = 'anything') => {
  const headers = { authorization: `Bearer ${keys[key]}` };
  const events = await durableOf({ http: server.http, headers }, session);
  return events.filter(({ type }) => type === 'input.accepted').length;
};

test('an idempotency key is the same for all API keys of a user', async () => {
  const request = { once: 'shared', messages: [user('one request')] };
  const first = await ask('openai', { key: 'openai', ...request });
  expect(first.status).toBe(200);
  expect(await ask('openai', { key: 'anything', ...request })).toEqual(first);
  expect(await inputsOf(first.session)).toBe(1);
});

test('a used idempotency key is refused for other messages, another history and another dialect', async () => {
  const once = 'counter-1';
  const first = await ask('openai', { key: 'openai', once, messages: [user('yes')] });
  const history = [user('Delete it?'), { role: 'assistant' as const, content: 'Sure?' }, user('yes')];
  const refused = [
    await ask('openai', { key: 'anything', once, messages: [user('no')] }),
    await ask('openai', { key: 'anything', once, messages: history }),
    await ask('anthropic', { key: 'anthropic', once, messages: [user('yes')] }),
  ];
  for (const { status, text, error } of refused) {
    expect({ status, text }).toEqual({ status: 400, text: '' });
    expect(error).toContain('The idempotency key was used before');
  }
  expect(await inputsOf(first.session)).toBe(1);
  const other = await ask('openai', { key: 'openai', once: 'counter-2', messages: [user('no')] });
  expect(other.status).toBe(200);
});

test('another user with the same idempotency key or history gets a session of their own', async () => {
  const request = { once: 'one of many', messages: [user('What is my secret?')] };
  const mine = await ask('openai', { key: 'openai', ...request });
  const theirs = await ask('openai', { key: 'stranger', ...request });
  expect(theirs.status).toBe(200);
  expect(theirs.session).not.toBe(mine.session);
  const history: Message[] = [...request.messages, { role: 'assistant', content: mine.text }, user('go on')];
  const continued = await ask('openai', { key: 'stranger', messages: history });
  expect(continued.session).not.toBe(mine.session);
  expect(await inputsOf(mine.session)).toBe(1);
  expect((await ask('openai', { key: 'openai', messages: history })).session).toBe(mine.session);
});

test('a history continues the session of another API key of the user, only in dialects of the caller', async () => {
  const first = await ask('openai', { key: 'openai', messages: [user('Remember the blue door.')] });
  const history: Message[] = [
    user('Remember the blue door.'),
    { role: 'assistant', content: first.text },
    user('Which door?'),
  ];
  expect((await ask('openai', { key: 'anthropic', messages: history })).status).toBe(403);
  expect(await inputsOf(first.session)).toBe(1);
  expect(await ask('anthropic', { key: 'anthropic', messages: history })).toMatchObject({
    status: 200,
    session: first.session,
  });
  expect(await inputsOf(first.session)).toBe(2);
});
