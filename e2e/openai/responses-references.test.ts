/** References to items of stored responses instead of the items themselves. */
import { expect, test } from 'bun:test';
import { failure, openaiClient, sessionOf } from './client.ts';
import { callsIn, type Item, OWN_TOOLS, responsesServer, WEATHER } from './responses-setup.ts';

const { server, client, ask, turnsOf, promptText, prompt } = await responsesServer();

const referred = (items: readonly { readonly id?: string | null | undefined }[]): Item[] =>
  items.map(({ id }) => ({ type: 'item_reference', id: id ?? '' }));
const user = (content: string): Item => ({ role: 'user', content });

test('a history of references continues the session that has the items', async () => {
  const tools = [WEATHER, OWN_TOOLS];
  const history: Item[] = [user('hello')];
  const first = await ask(history, { tools });
  history.push(...referred(first.data.output), user('weather'));
  const second = await ask(history, { tools });
  const outputs = callsIn(second.data).map(
    ({ call_id }): Item => ({ type: 'function_call_output', call_id, output: 'sunny' }),
  );
  history.push(...referred(second.data.output), ...outputs);
  const third = await ask(history, { tools });
  expect(third.data.output_text).toBe('It is sunny.');
  history.push(...referred(third.data.output), user('echo'));
  const fourth = await ask(history, { tools });
  expect(fourth.data.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  history.push(...referred(fourth.data.output), user('bye'));
  const fifth = await ask(history, { tools });
  const all = [first, second, third, fourth, fifth];
  expect(new Set(all.map(({ response }) => sessionOf(response))).size).toBe(1);
  expect(await turnsOf(sessionOf(first.response))).toBe(4);
});

test('items of another session in any dialect are imported', async () => {
  const { id } = await client.conversations.create();
  await ask('one', { conversation: id });
  const { data: items } = await client.conversations.items.list(id, { order: 'asc' });
  const { response } = await ask([...referred(items), user('two')]);
  expect(sessionOf(response)).not.toBe(id);
  expect(prompt().slice(1)).toEqual([
    ['user', 'one'],
    ['assistant', 'You said one.'],
    ['user', 'two'],
  ]);
  const copy = await client.conversations.create({ items: referred(items) });
  const copied = await client.conversations.items.list(copy.id, { order: 'asc' });
  // Reasoning is for the model that wrote it.
  const contents = (list: typeof items) =>
    list.flatMap((item) => (item.type === 'message' ? item.content : []));
  expect(contents(copied.data)).toEqual(contents(items));
  const again = await ask([...referred(copied.data), user('three')]);
  expect(promptText()).toContain('three');
  expect(again.data.status).toBe('completed');
});

test('sessions may have any name', async () => {
  const named = { conversation: 'a name_x with ünïcode' };
  const { data } = await ask('one', named);
  const { data: items } = await client.conversations.items.list(named.conversation, { order: 'asc' });
  await ask([...referred(items), user('two')]);
  expect(promptText()).toContain('You said one.');
  expect(items.at(-1)?.id).toBe(data.output.at(-1)?.id);
});

test('items of other users, of responses that are not stored, and unknown items are not found', async () => {
  const { data } = await ask('mine');
  const hidden = await ask('hidden', { store: false });
  const other = openaiClient(server.http, { key: await server.login('uma', 'uma-password') });
  const mine = data.output.at(-1)?.id ?? '';
  for (const [from, id] of [
    [other, mine],
    [client, hidden.data.output.at(-1)?.id ?? ''],
    [client, 'msg_1'],
    [client, mine.replace('msg_', 'fc_')],
    [client, `msg_${crypto.randomUUID()}_${'0'.repeat(32)}`],
  ] as const) {
    const asked = from.responses.create({ model: 'fake', input: [...referred([{ id }]), user('more')] });
    expect(await failure(asked)).toMatchObject({
      status: 404,
      type: 'invalid_request_error',
      param: 'input[0].id',
    });
  }
});
