/** Conversations, and responses in them, driven by the official client. */
import { describe, expect, test } from 'bun:test';
import { modelServer } from '../model-server.ts';
import { durableOf, followed, getJson, submit } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';

const { model, server } = await modelServer(
  ({ messages }) => ({ say: `re: ${messages.at(-1)?.content}` }),
  {},
  { listeners: [{ dialect: 'openai', port: 0 }] },
);
const client = openaiClient(server.http);

const say = (conversation: string, input: string) =>
  client.responses.create({ model: 'fake', conversation, input });

const textsOf = async (id: string): Promise<string[]> => {
  const { data } = await client.conversations.items.list(id, { order: 'asc' });
  return data.map((item) =>
    item.type === 'message'
      ? item.content.map((part) => ('text' in part ? part.text : '')).join('')
      : item.type,
  );
};

test('a conversation is created, read, changed and deleted', async () => {
  const made = await client.conversations.create({ metadata: { topic: 'tests', color: 'red' } });
  expect(made).toEqual({
    id: expect.any(String),
    object: 'conversation',
    created_at: expect.any(Number),
    metadata: { topic: 'tests', color: 'red' },
  });
  expect(await client.conversations.retrieve(made.id)).toEqual(made);
  const changed = await client.conversations.update(made.id, { metadata: { topic: 'more tests' } });
  expect(changed.metadata).toEqual({ topic: 'more tests' });
  expect(await client.conversations.delete(made.id)).toEqual({
    id: made.id,
    object: 'conversation.deleted',
    deleted: true,
  });
  expect(await failure(client.conversations.retrieve(made.id))).toMatchObject({ status: 404 });
  expect(await failure(client.conversations.items.list(made.id))).toMatchObject({ status: 404 });
  const record = await getJson<{ session: { archived: boolean } }>(`${server.http}/v1/sessions/${made.id}`);
  expect(JSON.stringify(record)).toContain('"archived":true');
});

test('its metadata are the labels of the session', async () => {
  const { id } = await client.conversations.create({ metadata: { topic: 'labels' } });
  const labels = (await durableOf(server, id)).flatMap((event) =>
    event.type === 'session.labelled' ? [event.labels] : [],
  );
  expect(labels).toEqual([{ topic: 'labels' }]);
  const reserved = client.conversations.update(id, { metadata: { '@exchange.key': 'x' } });
  expect(await failure(reserved)).toMatchObject({ status: 400 });
});

test('it starts with the given items', async () => {
  const { id } = await client.conversations.create({
    items: [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'indeed' },
    ],
  });
  expect(await textsOf(id)).toEqual(['before', 'indeed']);
  await say(id, 'now');
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('indeed');
});

describe('responses in a conversation', () => {
  test('are in its session, together with messages of other dialects', async () => {
    const { id } = await client.conversations.create();
    const first = await say(id, 'one');
    expect(first.conversation).toEqual({ id });
    await submit(server, id, 'two');
    await followed(server, id, (events) => events.filter(({ type }) => type === 'turn.ended').length === 2);
    const third = await client.responses.create({ model: 'fake', conversation: { id }, input: 'three' });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('re: two');
    const expected = ['one', 're: one', 'two', 're: two', 'three', 're: three'];
    expect(await textsOf(id)).toEqual(expected);
    const headers = { authorization: `Bearer ${await server.login('ada', 'ada-password')}` };
    const messages = await getJson<{ content: string }[]>(
      `${server.http}/v1/conversations/${id}/messages`,
      headers,
    );
    expect(messages.map(({ content }) => content)).toEqual(expected);
    const next = await client.responses.create({
      model: 'fake',
      previous_response_id: third.id,
      input: 'four',
    });
    expect(next.output_text).toBe('re: four');
    expect(await textsOf(id)).toHaveLength(8);
  });

  test('create it if it does not exist', async () => {
    await say('made up', 'hello');
    expect(await textsOf('made up')).toEqual(['hello', 're: hello']);
  });

  test('combined with a previous response are 400', async () => {
    const { id } = await say('one of both', 'hello');
    const both = client.responses.create({
      model: 'fake',
      conversation: 'one of both',
      previous_response_id: id,
      input: 'x',
    });
    expect(await failure(both)).toMatchObject({ status: 400, param: 'previous_response_id' });
  });
});

test('items come in pages, in both orders', async () => {
  const { id } = await client.conversations.create();
  for (const number of [1, 2, 3]) await say(id, `number ${number}`);
  for (const order of ['asc', 'desc'] as const) {
    const all: string[] = [];
    for await (const item of client.conversations.items.list(id, { order, limit: 2 }))
      all.push(item.id ?? '');
    expect(new Set(all).size).toBe(6);
    const page = await client.conversations.items.list(id, { order, limit: 2 });
    expect(page).toMatchObject({ has_more: true, last_id: all[1] ?? '' });
    expect(page.data.map((item) => item.id ?? null)).toEqual(all.slice(0, 2));
    const rest = await client.conversations.items.list(id, { order, after: all[3] ?? '' });
    expect(rest.data.map((item) => item.id ?? null)).toEqual(all.slice(4));
  }
  const { data } = await client.conversations.items.list(id);
  expect(data[0]).toMatchObject({
    role: 'assistant',
    content: [{ type: 'output_text', text: 're: number 3' }],
  });
  expect(data[1]).toMatchObject({ role: 'user', content: [{ type: 'input_text', text: 'number 3' }] });
  for (const query of ['limit=0', 'order=up', 'after=nothing'])
    expect((await fetch(`${server.http}/openai/v1/conversations/${id}/items?${query}`)).status).toBe(400);
});

test('conversations of other users are not found, and their ids can be used', async () => {
  const { id } = await client.conversations.create({ metadata: { secret: 'mine' } });
  await say(id, 'my secret');
  const other = openaiClient(server.http, { key: await server.login('uma', 'uma-password') });
  expect(await failure(other.conversations.retrieve(id))).toMatchObject({ status: 404 });
  expect(await failure(other.conversations.items.list(id))).toMatchObject({ status: 404 });
  expect(await failure(other.conversations.delete(id))).toMatchObject({ status: 404 });
  const update = other.conversations.update(id, { metadata: {} });
  expect(await failure(update)).toMatchObject({ status: 404 });
  await other.responses.create({ model: 'fake', conversation: id, input: 'theirs' });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('my secret');
});

test('they are served at /v1 of an extra listener; /v1 of the default one belongs to another dialect', async () => {
  const { port } = server.running.listeners.find(({ dialect }) => dialect === 'openai') ?? {};
  const alone = openaiClient(`http://127.0.0.1:${port}`, { base: '/v1' });
  expect((await alone.conversations.create()).object).toBe('conversation');
  const elsewhere = await fetch(`${server.http}/v1/conversations`, {
    headers: { authorization: `Bearer ${await server.login('ada', 'ada-password')}` },
  });
  expect(await elsewhere.text()).not.toContain('"object":"conversation"');
});

describe('items', () => {
  const typesOf = async (id: string) =>
    (await client.conversations.items.list(id, { order: 'asc' })).data.map(({ type }) => type);

  test('are added without a model, in several requests, and are in the next prompt', async () => {
    const { id } = await client.conversations.create();
    const before = model.requests.length;
    const added = await client.conversations.items.create(id, {
      items: [
        { type: 'message', role: 'system', content: 'Be brief.' },
        { type: 'message', role: 'user', content: 'The weather?' },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      ],
    });
    expect(added).toMatchObject({ object: 'list', has_more: false });
    expect(added.data).toMatchObject([
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { type: 'message', role: 'user' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
    ]);
    await client.conversations.items.create(id, {
      items: [
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
        { type: 'message', role: 'assistant', content: 'It is sunny.' },
      ],
    });
    expect(model.requests.length).toBe(before);
    expect(await typesOf(id)).toEqual([
      'message',
      'message',
      'function_call',
      'function_call_output',
      'message',
    ]);
    await say(id, 'and now?');
    expect(model.requests.at(-1)?.messages.slice(-5)).toMatchObject([
      { role: 'user', content: 'The weather?' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: 'sunny' },
      { role: 'assistant', content: 'It is sunny.' },
      { role: 'user', content: 'and now?' },
    ]);
  });

  test('that are calls without a result, and results without a call, do not reach the model as such', async () => {
    const { id } = await client.conversations.create();
    await client.conversations.items.create(id, {
      items: [{ type: 'function_call', call_id: 'call_open', name: 'weather', arguments: '{}' }],
    });
    await client.conversations.items.create(id, {
      items: [{ type: 'function_call_output', call_id: 'call_unknown', output: 'nothing' }],
    });
    await say(id, 'go on');
    const roles = model.requests.at(-1)?.messages.map(({ role }) => role);
    expect(roles?.slice(-3)).toEqual(['assistant', 'tool', 'user']);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('call_unknown');
  });

  test('are retrieved and deleted one by one, and leave the prompt', async () => {
    const { id } = await client.conversations.create({
      items: [
        { role: 'user', content: 'the first' },
        { role: 'assistant', content: 'noted' },
        { role: 'user', content: 'the second' },
      ],
    });
    await say(id, 'the third');
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    const [first, noted] = data;
    const at = { conversation_id: id };
    expect(await client.conversations.items.retrieve(noted?.id ?? '', at)).toEqual(noted as never);
    expect(await client.conversations.items.delete(noted?.id ?? '', at)).toMatchObject({ id });
    expect(await client.conversations.items.delete(first?.id ?? '', at)).toMatchObject({ id });
    expect(await failure(client.conversations.items.retrieve(noted?.id ?? '', at))).toMatchObject({
      status: 404,
      param: 'item_id',
    });
    expect((await textsOf(id)).slice(0, 2)).toEqual(['the second', 'the third']);
    const latest = await client.conversations.items.list(id, { limit: 10 });
    expect(latest.data.map((item) => item.id)).toEqual(
      data
        .slice(2)
        .map((item) => item.id)
        .reverse(),
    );
    await say(id, 'the fourth');
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).not.toContain('noted');
    expect(prompt).not.toContain('the first');
    expect(prompt).toContain('the second');
  });

  test('of a removed call take the result along', async () => {
    const { id } = await client.conversations.create({
      items: [
        { role: 'user', content: 'look' },
        { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_2', output: 'rain' },
      ],
    });
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    await client.conversations.items.delete(data[1]?.id ?? '', { conversation_id: id });
    await say(id, 'and?');
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).not.toContain('tool');
  });

  test('of other users and unknown conversations are not found', async () => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'mine' }] });
    const { data } = await client.conversations.items.list(id);
    const other = openaiClient(server.http, { key: await server.login('uma', 'uma-password') });
    const item = data[0]?.id ?? '';
    const at = { conversation_id: id };
    expect(await failure(other.conversations.items.retrieve(item, at))).toMatchObject({ status: 404 });
    expect(await failure(other.conversations.items.delete(item, at))).toMatchObject({ status: 404 });
    const items = [{ role: 'user' as const, content: 'x' }];
    expect(await failure(other.conversations.items.create(id, { items }))).toMatchObject({ status: 404 });
    expect(await failure(client.conversations.items.create(id, { items: [] }))).toMatchObject({
      status: 400,
    });
    expect(await textsOf(id)).toEqual(['mine']);
  });
});
