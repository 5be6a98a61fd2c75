/** The session of a request of a stateless client. */
import { describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { modelServer } from '../model-server.ts';
import { durableOf, followed, submit } from '../server-process.ts';
import { openaiClient } from './client.ts';

type Message = OpenAI.ChatCompletionMessageParam;

const user = (content: string): Message => ({ role: 'user', content });

const { model, server, turnsOf } = await modelServer(({ messages }) => ({
  say: `re: ${JSON.stringify(messages.at(-1)?.content)}`,
}));
const client = openaiClient(server.http);

async function ask(messages: Message[], headers: Record<string, string> = {}) {
  const { data, response } = await client.chat.completions
    .create({ model: 'fake', messages }, { headers })
    .withResponse();
  const message = data.choices[0]?.message as OpenAI.ChatCompletionMessage;
  return { message, text: message.content ?? '', session: response.headers.get('x-parlance-session') ?? '' };
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

test('another history is a new session that starts with it, and the old one is unchanged', async () => {
  const first = await ask([user('one')]);
  const before = await typesOf(first.session);
  const edited: Message[] = [user('uno'), { role: 'assistant', content: first.text }, user('two')];
  const second = await ask(edited);
  expect(second.session).not.toBe(first.session);
  expect(await typesOf(second.session)).toContain('history.imported');
  expect(await turnsOf(second.session)).toBe(1);
  expect(
    model.requests
      .at(-1)
      ?.messages.slice(-3)
      .map(({ content }) => JSON.stringify(content)),
  ).toEqual([
    expect.stringContaining('uno'),
    expect.stringContaining('re: '),
    expect.stringContaining('two'),
  ]);
  expect(await typesOf(first.session)).toEqual(before);
});

test('a named session continues, whatever history the client sends', async () => {
  const named = { 'X-Parlance-Session': 'my own name' };
  expect((await ask([user('one')], named)).session).toBe('my own name');
  const { session } = await ask([user('two')], named);
  expect(session).toBe('my own name');
  expect(await turnsOf('my own name')).toBe(2);
  const prompt = JSON.stringify(model.requests.at(-1)?.messages);
  expect(prompt).toContain('one');
  expect(prompt).toContain('two');
});

test('messages from elsewhere are part of the next prompt here, and the answer is visible there', async () => {
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
  const messages = await messagesOf(first.session);
  expect(messages).toEqual([
    'here',
    first.text,
    'said elsewhere',
    're: "said elsewhere"',
    'and back',
    second.text,
  ]);
});

async function messagesOf(session: string) {
  const headers = { authorization: `Bearer ${await server.login('ada', 'ada-password')}` };
  const response = await fetch(`${server.http}/v1/conversations/${session}/messages`, { headers });
  return ((await response.json()) as { content: string }[]).map(({ content }) => content);
}

test('two users have separate sessions for the same conversation and the same name', async () => {
  const asUser = async (name: string) =>
    openaiClient(server.http, { key: await server.login(name, `${name}-password`), session: 'shared name' });
  for (const name of ['dev', 'uma']) {
    const own = await asUser(name);
    await own.chat.completions.create({ model: 'fake', messages: [user(`secret of ${name}`)] });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain(
      name === 'uma' ? 'of dev' : 'of uma',
    );
  }
});

describe('a repeated request', () => {
  test('gets the same answer, without another turn', async () => {
    const key = { 'Idempotency-Key': 'once' };
    const first = await ask([user('only once')], key);
    const asked = model.requests.length;
    const second = await ask([user('only once')], key);
    expect(second).toEqual(first);
    expect(model.requests).toHaveLength(asked);
    expect(await turnsOf(first.session)).toBe(1);
  });

  test('is the same turn, even while the first is being answered and in a conversation that has continued', async () => {
    const first = await ask([user('a')]);
    const again: Message[] = [user('a'), first.message, user('b')];
    const key = { 'Idempotency-Key': 'twice' };
    const [one, two] = await Promise.all([ask(again, key), ask(again, key)]);
    expect(two).toEqual(one);
    expect(one.session).toBe(first.session);
    expect(await turnsOf(first.session)).toBe(2);
  });
});

test('earlier keys of a session are remembered as well', async () => {
  const history: Message[] = [];
  const answers: { readonly session: string; readonly text: string; readonly asked: Message[] }[] = [];
  for (const [index, content] of ['first', 'second', 'third'].entries()) {
    history.push(user(content));
    const asked = [...history];
    const { message, session, text } = await ask(asked, { 'Idempotency-Key': `number ${index}` });
    history.push(message);
    answers.push({ session, text, asked });
  }
  for (const [index, { session, text, asked }] of answers.entries()) {
    const again = await ask(asked, { 'Idempotency-Key': `number ${index}` });
    expect(again).toMatchObject({ session, text });
  }
  expect(await turnsOf(answers[0]?.session ?? '')).toBe(3);
});

test('a partial history of a named session does not identify it', async () => {
  const named = { 'X-Parlance-Session': 'known in part' };
  await ask([user('unseen')], named);
  const second = await ask([user('later')], named);
  const unnamed = await ask([user('later'), second.message, user('next')]);
  expect(unnamed.session).not.toBe('known in part');
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('unseen');
});

test('a session continued by name can also be continued without it', async () => {
  const named = { 'X-Parlance-Session': 'known as a whole' };
  const first = await ask([user('x')], named);
  const second = await ask([user('y')], named);
  const third = await ask([user('x'), first.message, user('y'), second.message, user('z')]);
  expect(third.session).toBe('known as a whole');
});

test('fifty concurrent requests do not mix', async () => {
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  const answers = await Promise.all(
    numbers.map(async (number) => {
      const stream = client.chat.completions.stream({ model: 'fake', messages: [user(`number ${number}!`)] });
      return stream.finalContent();
    }),
  );
  for (const number of numbers) expect(answers[number]).toContain(`number ${number}!`);
});
