/** `POST /responses/compact`, the phase of messages, and the members of a response that others require. */
import { expect, test } from 'bun:test';
import { modelServer, testServers } from '../model-server.ts';
import { getJson } from '../server-process.ts';
import { failure, openaiClient } from './client.ts';

const { server, model, promptText } = await modelServer(({ messages }) => {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (JSON.stringify(messages[0]?.content).includes('Summarise')) return { say: 'They met in Rome.' };
  return { say: `re: ${text}` };
});
const client = openaiClient(server.http);
const { dictated } = testServers();

const sessions = async (): Promise<number> =>
  (await getJson<{ sessions: object[] }>(`${server.http}/v1/sessions`)).sessions.length;

test('a conversation is compacted to the messages of the user and an item, which continues it', async () => {
  const before = await sessions();
  const compacted = await client.responses.compact({
    model: 'fake',
    input: [
      { role: 'user', content: 'Where did they meet?' },
      { role: 'assistant', content: 'In Rome.' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      { role: 'user', content: 'And then?' },
    ],
  });
  expect(compacted).toEqual({
    id: expect.stringMatching(/^resp_/),
    object: 'response.compaction',
    created_at: expect.any(Number),
    output: [
      expect.objectContaining({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Where did they meet?' }],
      }),
      expect.objectContaining({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'And then?' }],
      }),
      { id: expect.any(String), type: 'compaction', encrypted_content: expect.any(String) },
    ] as never,
    usage: expect.objectContaining({ input_tokens: 100, output_tokens: 5, total_tokens: 105 }),
  });
  expect(promptText()).toContain('sunny');
  expect(await sessions()).toBe(before);
  const output = compacted.output as never[];
  const next = await client.responses.create({
    model: 'fake',
    input: [...output, { role: 'user', content: 'Go on.' }],
  });
  expect(next.output_text).toBe('re: Go on.');
  expect(promptText()).toContain('They met in Rome.');
  expect(promptText()).toContain('Where did they meet?');
});

test('a stored response is compacted with all that was before it', async () => {
  const first = await client.responses.create({ model: 'fake', input: 'one' });
  const second = await client.responses.create({
    model: 'fake',
    input: 'two',
    previous_response_id: first.id,
  });
  const { output } = await client.responses.compact({ model: 'fake', previous_response_id: second.id });
  expect(promptText()).toContain('re: one');
  expect(promptText()).toContain('re: two');
  expect(output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
});

test('bad requests are refused', async () => {
  const post = (body: object) =>
    fetch(`${server.http}/v1/responses/compact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const noModel = await post({ input: 'x' });
  expect([noModel.status, await noModel.json()]).toMatchObject([400, { error: { param: 'model' } }]);
  expect((await post({ model: 'fake' })).status).toBe(400);
  expect(await (await post({ model: 'fake', previous_response_id: 'resp_none' })).json()).toMatchObject({
    error: { code: 'previous_response_not_found' },
  });
  const foreign = client.responses.create({
    model: 'fake',
    input: [
      { type: 'compaction', encrypted_content: 'gAAAA' },
      { role: 'user', content: 'x' },
    ],
  });
  expect(await failure(foreign)).toMatchObject({ status: 400, param: 'input[0].encrypted_content' });
});

test('a message before a call is commentary, and the answer is final', async () => {
  const { model: spoken, server: own } = await dictated();
  const asked = openaiClient(own.http).responses.create({ model: 'fake', input: 'look', stream: true });
  spoken.say('Let me look.');
  spoken.call('echo', { value: 'x' });
  const phases: unknown[] = [];
  let response: { output: object[] } | null = null;
  spoken.say('It is x.');
  spoken.end();
  for await (const event of await asked) {
    if (event.type === 'response.output_item.done' && event.item.type === 'message')
      phases.push(event.item.phase);
    if (event.type === 'response.completed') response = event.response;
  }
  expect(phases).toEqual(['commentary', 'final_answer']);
  expect(response?.output).toMatchObject([
    { type: 'message', phase: 'commentary' },
    { type: 'mcp_call' },
    { type: 'message', phase: 'final_answer' },
  ]);
});

test('messages with a phase are accepted', async () => {
  const { output_text } = await client.responses.create({
    model: 'fake',
    input: [
      { role: 'user', content: 'a' },
      { type: 'message', role: 'assistant', phase: 'commentary', content: 'thinking' } as never,
      { type: 'message', role: 'assistant', phase: 'final_answer', content: 'b' } as never,
      { role: 'user', content: 'c' },
    ],
  });
  expect(output_text).toBe('re: c');
  expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toContain('assistant');
});

test('a response has the members that Open Responses requires', async () => {
  const response = await client.responses.create({
    model: 'fake',
    input: 'hello',
    safety_identifier: 'user-1',
    prompt_cache_key: 'key-1',
  });
  const members = {
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    service_tier: 'default',
    safety_identifier: 'user-1',
    prompt_cache_key: 'key-1',
  };
  expect(response).toMatchObject(members as never);
  expect(await client.responses.retrieve(response.id)).toMatchObject(members as never);
  const plain = await client.responses.create({ model: 'fake', input: 'hello' });
  expect(plain).toMatchObject({ safety_identifier: null, prompt_cache_key: null } as never);
});
