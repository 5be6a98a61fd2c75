/** The session of a request of a stateless client. */
import { expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import { modelServer } from '../model-server.ts';
import { durableOf, followed, submit } from '../server-process.ts';
import { anthropicClient, sessionOf, textIn } from './client.ts';

type Message = Anthropic.MessageParam;

const user = (content: string): Message => ({ role: 'user', content });

const { model, server, turnsOf } = await modelServer(({ messages }) => ({
  say: `re: ${JSON.stringify(messages.at(-1)?.content)}`,
}));
const client = anthropicClient(server.http);

async function ask(messages: Message[], headers: Record<string, string> = {}) {
  const { data, response } = await client.messages
    .create({ model: 'fake', max_tokens: 100, messages }, { headers })
    .withResponse();
  const message: Message = { role: 'assistant', content: data.content };
  return { id: data.id, message, text: textIn(data), session: sessionOf(response) };
}

const typesOf = async (session: string) => (await durableOf(server, session)).map(({ type }) => type);

test('a hundred requests with a growing history are one session with a hundred turns', async () => {
  const history: Message[] = [];
  const sessions = new Set<string>();
  for (let turn = 0; turn < 100; turn++) {
    history.push(user(`message ${turn}`));
    const { message, session } = await ask(history);
    history.push(message);
    sessions.add(session);
  }
  expect(sessions.size).toBe(1);
  expect(await turnsOf([...sessions][0] ?? '')).toBe(100);
});

test('text split into blocks is the same history, with cache marks and thinking beside it', async () => {
  const first = await ask([user('Hello you.')]);
  const cut = (text: string): Anthropic.TextBlockParam[] => [
    { type: 'text', text: text.slice(0, 3) },
    { type: 'text', text: text.slice(3), cache_control: { type: 'ephemeral' } },
  ];
  const thinking = { type: 'thinking' as const, thinking: 'Hm.', signature: 'x' };
  const second = await ask([
    { role: 'user', content: cut('Hello you.') },
    { role: 'assistant', content: [thinking, ...cut(first.text)] },
    user('more'),
  ]);
  expect(second.session).toBe(first.session);
});

test('another history is a new session that starts with it, and the old one is unchanged', async () => {
  const first = await ask([user('one')]);
  const before = await typesOf(first.session);
  const second = await ask([user('uno'), first.message, user('two')]);
  expect(second.session).not.toBe(first.session);
  expect(await typesOf(second.session)).toContain('history.imported');
  expect(await turnsOf(second.session)).toBe(1);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/uno.*re: .*two/);
  expect(await typesOf(first.session)).toEqual(before);
});

test('a named session continues, whatever history the client sends', async () => {
  const named = { 'X-Parlance-Session': 'my own name' };
  expect((await ask([user('one')], named)).session).toBe('my own name');
  expect((await ask([user('two')], named)).session).toBe('my own name');
  expect(await turnsOf('my own name')).toBe(2);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/one.*two/);
});

test('a session continues natively and in conversations, and back', async () => {
  const token = await server.login('dev', 'dev-password');
  const authorization = `Bearer ${token}`;
  const where = { http: server.http, headers: { authorization } };
  const own = anthropicClient(server.http, { token });
  const say = async (messages: Message[]) => {
    const asked = { model: 'fake', max_tokens: 100, messages };
    const { data, response } = await own.messages.create(asked).withResponse();
    return { text: textIn(data), session: sessionOf(response), message: data };
  };
  const first = await say([user('here')]);
  const answers = (count: number) =>
    followed(
      where,
      first.session,
      (events) => events.filter(({ type }) => type === 'turn.ended').length === count,
    );
  const parts = [{ type: 'text', text: 'said natively' }];
  const post = (path: string, body: object) =>
    fetch(`${server.http}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await post(`/v1/sessions/${first.session}/commands`, { type: 'input.submit', parts });
  await answers(2);
  const url = `${server.http}/v1/conversations/${first.session}/messages`;
  const second = await say([
    user('here'),
    { role: 'assistant', content: first.message.content },
    user('and back'),
  ]);
  expect(second.session).toBe(first.session);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('said natively');
  const messages = (await (await fetch(url, { headers: { authorization } })).json()) as { content: string }[];
  expect(messages.map(({ content }) => content)).toEqual([
    'here',
    first.text,
    'said natively',
    're: "said natively"',
    'and back',
    second.text,
  ]);
});

test('messages from elsewhere are part of the next prompt here', async () => {
  const first = await ask([user('here')]);
  await submit(server, first.session, 'said elsewhere');
  await followed(
    server,
    first.session,
    (events) => events.filter(({ type }) => type === 'turn.ended').length === 2,
  );
  const second = await ask([user('here'), first.message, user('and back')]);
  expect(second.session).toBe(first.session);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('said elsewhere');
});

test('two users have separate sessions for the same conversation and the same name', async () => {
  for (const name of ['dev', 'uma']) {
    const key = await server.login(name, `${name}-password`);
    const own = anthropicClient(server.http, { key, session: 'shared name' });
    await own.messages.create({ model: 'fake', max_tokens: 100, messages: [user(`secret of ${name}`)] });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain(
      name === 'uma' ? 'of dev' : 'of uma',
    );
  }
});

test('a repeated request gets the same answer, even while the first is being answered', async () => {
  const key = { 'Idempotency-Key': 'once' };
  const [first, same] = await Promise.all([ask([user('only once')], key), ask([user('only once')], key)]);
  expect(same).toEqual(first);
  const asked = model.requests.length;
  expect(await ask([user('only once')], key)).toEqual(first);
  expect(model.requests).toHaveLength(asked);
  expect(await turnsOf(first.session)).toBe(1);
});

test('the id of a coding client is a label of its sessions, and does not name them', async () => {
  const headers = { 'x-claude-code-session-id': 'c0ffee' };
  const [one, two] = [await ask([user('main')], headers), await ask([user('side call')], headers)];
  expect(one.session).not.toBe(two.session);
  for (const { session } of [one, two])
    expect(await durableOf(server, session)).toContainEqual(
      expect.objectContaining({ labels: expect.objectContaining({ 'claude-code.session': 'c0ffee' }) }),
    );
});

test('fifty concurrent requests do not mix', async () => {
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  const answers = await Promise.all(
    numbers.map((number) =>
      client.messages
        .stream({ model: 'fake', max_tokens: 100, messages: [user(`number ${number}!`)] })
        .finalText(),
    ),
  );
  for (const number of numbers) expect(answers[number]).toBe(`re: "number ${number}!"`);
});
