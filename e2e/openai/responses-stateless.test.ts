/** Clients of the Responses API that send their whole history each time. */
import { expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { modelServer } from '../model-server.ts';
import { durableOf } from '../server-process.ts';
import { openaiClient } from './client.ts';

type Item = OpenAI.Responses.ResponseInputItem;

const user = (content: string): Item => ({ role: 'user', content });
const WEATHER = { type: 'function', name: 'weather', parameters: null, strict: false } as const;

const { model, server, turnsOf, prompt } = await modelServer(({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { say: `It is ${last.content}.` };
  const text = JSON.stringify(last?.content);
  if (text.includes('weather')) return { call: 'weather', input: { city: 'Rome' } };
  return text.includes('echo')
    ? { call: 'echo', input: { value: 'seen' } }
    : { say: `re: ${text}`, think: 'Hm.' };
});
const client = openaiClient(server.http);

async function ask(input: Item[], more: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {}) {
  const { data, response } = await client.responses
    .create({ model: 'fake', store: false, input, ...more })
    .withResponse();
  return { data, session: response.headers.get('x-parlance-session') ?? '' };
}

test('a hundred requests are one session with a hundred turns, and stored data per request does not grow', async () => {
  const history: Item[] = [];
  const sessions = new Set<string>();
  for (let turn = 0; turn < 100; turn++) {
    history.push(user(`message ${turn}`));
    const { data, session } = await ask(history);
    history.push(...(data.output as Item[]));
    sessions.add(session);
  }
  expect(sessions.size).toBe(1);
  const events = await durableOf(server, [...sessions][0] ?? '');
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(100);
  const sizes = [0, 50, 99].map((turn) => {
    const from = events.findIndex(
      (event) => event.type === 'input.accepted' && JSON.stringify(event.parts).includes(`message ${turn}"`),
    );
    const next = events.findIndex((event, at) => at > from && event.type === 'input.accepted');
    const own = events.slice(from, next < 0 ? undefined : next);
    return { count: own.length, bytes: JSON.stringify(own).length };
  });
  const [first, middle, last] = sizes;
  expect(last?.count).toBe(middle?.count ?? 0);
  expect(last?.bytes).toBeLessThan((first?.bytes ?? 0) * 1.2);
});

test('calls, results, the agent’s own calls and reasoning can be sent back, and continue the session', async () => {
  const tools = [WEATHER, { type: 'mcp', server_label: 'parlance' } as OpenAI.Responses.Tool];
  const history: Item[] = [user('weather, please')];
  const first = await ask(history, { tools });
  history.push(...(first.data.output as Item[]));
  const [call] = first.data.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  history.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' });
  const second = await ask(history, { tools });
  expect(second.data.output_text).toBe('It is sunny.');
  history.push(...(second.data.output as Item[]), user('echo'));
  const third = await ask(history, { tools });
  expect(third.data.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  history.push(...(third.data.output as Item[]), user('thanks'));
  const fourth = await ask(history, { tools });
  expect(new Set([first, second, third, fourth].map(({ session }) => session)).size).toBe(1);
  expect(await turnsOf(first.session)).toBe(3);
});

test('another history is a new session that starts with it', async () => {
  const first = await ask([user('one')]);
  const before = await durableOf(server, first.session);
  const edited = await ask([user('uno'), ...(first.data.output as Item[]), user('two')]);
  expect(edited.session).not.toBe(first.session);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('uno');
  expect(await durableOf(server, first.session)).toEqual(before);
});

test('a terminal’s request: developer messages are instructions, consecutive user messages are one input', async () => {
  const { data, session } = await ask(
    [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be careful.' }] },
      { type: 'message', role: 'developer', content: 'Be quick.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'environment' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'task' }] },
    ],
    {
      instructions: 'You are a terminal.',
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'key',
      ...({ client_metadata: { a: 'b' } } as object),
    },
  );
  expect(model.requests.at(-1)?.messages[0]).toMatchObject({
    role: 'system',
    content: 'You are a terminal.\n\nBe careful.\n\nBe quick.',
  });
  expect(data.instructions).toBe('You are a terminal.');
  const inputs = (await durableOf(server, session)).filter(({ type }) => type === 'input.accepted');
  expect(inputs).toMatchObject([{ parts: [{ text: 'environment' }, { text: 'task' }] }]);
});

test('messages of the developer in the middle are instructions at their place', async () => {
  const first = await ask([user('one')]);
  const developer: Item = { role: 'developer', content: 'Be brief.' };
  const { session } = await ask([user('one'), ...(first.data.output as Item[]), developer, user('two')]);
  expect(session).toBe(first.session);
  expect(prompt().slice(-2)).toEqual([
    ['system', 'Be brief.'],
    ['user', 'two'],
  ]);
  const inputs = (await durableOf(server, session)).filter(({ type }) => type === 'input.accepted');
  expect(inputs).toMatchObject([{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }]);
});

test('session headers of a terminal are labels', async () => {
  const headers = { 'session-id': 'terminal-1', 'thread-id': 'thread-1' };
  const { response } = await client.responses
    .create({ model: 'fake', input: 'hi', store: false }, { headers })
    .withResponse();
  const session = response.headers.get('x-parlance-session') ?? '';
  const labelled = (await durableOf(server, session)).find(({ type }) => type === 'session.labelled');
  expect(labelled).toMatchObject({
    labels: { 'client.session-id': 'terminal-1', 'client.thread-id': 'thread-1' },
  });
});

test('fifty concurrent responses do not mix', async () => {
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  const texts = await Promise.all(
    numbers.map(async (number) => {
      const stream = client.responses.stream({ model: 'fake', input: `number ${number}!` });
      return (await stream.finalResponse()).output_text;
    }),
  );
  for (const number of numbers) expect(texts[number]).toBe(`re: "number ${number}!"`);
});

test('a repeated request is the same response', async () => {
  const key = { headers: { 'Idempotency-Key': 'once only' } };
  const body = { model: 'fake', input: 'only once' };
  const [one, two] = await Promise.all([
    client.responses.create(body, key),
    client.responses.create(body, key),
  ]);
  expect(two).toEqual(one);
  expect(await client.responses.create(body, key)).toEqual(one);
});
