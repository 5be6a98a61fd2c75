/** Threads: the server stores the conversation. Driven by the helpers of the official client. */
import { describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { until } from '../../packages/server/src/testing/until.ts';
import { modelServer } from '../model-server.ts';
import { anthropicClient, failure, sessionOf, textIn } from './client.ts';

/** while it is set, answers to "slow" wait for it */
let gate: Promise<void> | null = null;

const { model, server, turnsOf } = await modelServer(async ({ messages, tools }) => {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (text.startsWith('slow')) await gate;
  if (text.endsWith('fail')) return { status: 400 };
  if (last?.role === 'tool') return { say: `Seen ${messages.filter(({ role }) => role === 'tool').length}.` };
  if (tools?.length === 1 && text.startsWith('weather'))
    return {
      calls: [
        ['weather', { city: 'Rome' }],
        ['weather', { city: 'Oslo' }],
      ],
    };
  return { say: `re: ${text}` };
});
const client = anthropicClient(server.http);

const user = (content: string) => ({ role: 'user' as const, content });

const PARAMS = { model: 'fake', max_tokens: 100 };
const BETA = { betas: ['message-threads-2026-08-12'] };

const create = (content: string, more: object = {}) =>
  client.beta.messages
    .create({ ...PARAMS, ...BETA, messages: [user(content)], thread: { type: 'create' }, ...more })
    .withResponse();
const continueFrom = (
  previous: string,
  content: string,
  { from = client, ...more }: { from?: Anthropic; [field: string]: unknown } = {},
) =>
  from.beta.messages
    .create({
      ...PARAMS,
      ...BETA,
      messages: [user(content)],
      thread: { type: 'continue', previous_message_id: previous },
      ...more,
    })
    .withResponse();

const prompt = () => model.requests.at(-1)?.messages.map(({ role, content }) => `${role} ${content}`) ?? [];

const refused = (status: number, code: string) => ({
  status,
  errorCode: code,
  type: status === 404 ? 'not_found_error' : 'invalid_request_error',
});

test('the client’s thread sends only new messages, and is one session', async () => {
  const thread = client.beta.messages.thread({ ...PARAMS, system: 'Rhyme.' });
  const first = await thread.send(user('one')).withResponse();
  expect(thread.previousMessageId).toBe(first.data.id);
  const second = await thread.stream(user('two')).finalMessage();
  const third = await thread.send(user('three')).withResponse();
  expect(textIn(second)).toBe('re: two');
  expect(sessionOf(third.response)).toBe(sessionOf(first.response));
  expect(await turnsOf(sessionOf(first.response))).toBe(3);
  // The setup of the thread applies.
  expect(prompt()).toEqual([
    'system Rhyme.',
    'user one',
    'assistant re: one',
    'user two',
    'assistant re: two',
    'user three',
  ]);
  const headers = { authorization: `Bearer ${await server.login('ada', 'ada-password')}` };
  const url = `${server.http}/v1/conversations/${sessionOf(first.response)}/messages`;
  const messages = (await (await fetch(url, { headers })).json()) as { content: string }[];
  expect(messages.map(({ content }) => content)).toEqual([
    'one',
    're: one',
    'two',
    're: two',
    'three',
    're: three',
  ]);
});

test.each([false, true])('the client’s tool runner works over a thread (stream: %p)', async (stream) => {
  const weather = betaTool({
    name: 'weather',
    description: 'The weather.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    run: ({ city }) => `fine in ${city}`,
  });
  const runner = client.beta.messages.toolRunner({
    ...PARAMS,
    messages: [user('weather')],
    tools: [weather],
    stream,
  });
  expect(textIn(await runner.runUntilDone())).toBe('Seen 2.');
  expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather']);
});

describe('a thread that cannot be continued', () => {
  test('is unknown, or belongs to another user', async () => {
    const { data } = await create('mine');
    const key = await server.login('uma', 'uma-password');
    const others = anthropicClient(server.http, { key });
    for (const asked of [continueFrom('msg_nobody', 'more'), continueFrom(data.id, 'more', { from: others })])
      expect(await failure(asked)).toMatchObject(refused(404, 'thread_not_found'));
  });

  test('was continued from another answer; the client sends everything again, and nothing is duplicated', async () => {
    const { data, response } = await create('one');
    const second = await continueFrom(data.id, 'two');
    expect(await failure(continueFrom(data.id, 'other'))).toMatchObject(
      refused(400, 'thread_already_continued'),
    );
    const replay = {
      messages: [
        user('one'),
        { role: 'assistant', content: data.content },
        user('two'),
        { role: 'assistant', content: second.data.content },
        user('three'),
      ],
    };
    const third = await create('', replay);
    expect(sessionOf(third.response)).toBe(sessionOf(response));
    expect(await turnsOf(sessionOf(response))).toBe(3);
    expect(textIn((await continueFrom(third.data.id, 'four')).data)).toBe('re: four');
  });

  test('is being continued by another request', async () => {
    const { data } = await create('one');
    const opens = Promise.withResolvers<void>();
    gate = opens.promise;
    const before = model.requests.length;
    const first = continueFrom(data.id, 'slow');
    await until(() => model.requests.length !== before);
    expect(await failure(continueFrom(data.id, 'too'))).toMatchObject(
      refused(400, 'thread_continue_in_flight'),
    );
    opens.resolve();
    expect(textIn((await first).data)).toBe('re: slow');
    expect(await failure(continueFrom(data.id, 'too'))).toMatchObject(
      refused(400, 'thread_already_continued'),
    );
  });

  test('has another system or other tools', async () => {
    const { data } = await create('one', { system: 'Rhyme.' });
    const mismatch = refused(400, 'thread_fingerprint_mismatch');
    expect(await failure(continueFrom(data.id, 'two', { system: 'Shout.' }))).toMatchObject(mismatch);
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
    expect(await failure(continueFrom(data.id, 'two', { tools }))).toMatchObject(mismatch);
    expect(textIn((await continueFrom(data.id, 'two', { system: 'Rhyme.' })).data)).toBe('re: two');
  });
});

test('a thread whose turn has failed is continued from the same answer', async () => {
  const { data } = await create('one');
  const failed = (await failure(continueFrom(data.id, 'fail'))) as InstanceType<typeof Anthropic.APIError>;
  expect(failed).toMatchObject({ status: 400, type: 'invalid_request_error' });
  expect(failed.headers?.get('x-should-retry')).toBe('false');
  expect(textIn((await continueFrom(data.id, 'two')).data)).toEndWith('two');
});

test('a repeated request gets the same answer', async () => {
  const { data } = await create('one');
  const headers = { 'Idempotency-Key': 'again' };
  const ask = () =>
    client.beta.messages.create(
      {
        ...PARAMS,
        messages: [user('two')],
        thread: { type: 'continue', previous_message_id: data.id },
      },
      { headers },
    );
  expect((await ask()).id).toBe((await ask()).id);
});
