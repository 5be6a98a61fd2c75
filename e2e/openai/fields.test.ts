/** Invalid requests are 400 with the name of the field. */
import { describe, expect, test } from 'bun:test';
import { modelServer } from '../model-server.ts';
import { openaiClient } from './client.ts';

const { server } = await modelServer(() => ({ say: 'Fine.' }));
const client = openaiClient(server.http);

const post = (path: string, body: string) =>
  fetch(`${server.http}/openai/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

async function refused(path: string, body: string, param: string | null): Promise<void> {
  const response = await post(path, body);
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: { message: expect.any(String), type: 'invalid_request_error', param, code: null } },
  ]);
}

describe('chat', () => {
  test.each([
    ['{', null],
    ['[]', null],
    ['{"messages":[]}', 'model'],
    ['{"model":"fake"}', 'messages'],
    ['{"model":"fake","messages":[]}', 'messages'],
    ['{"model":"fake","messages":[{"role":"user","content":"a"},{"role":"nobody"}]}', 'messages[1].role'],
    ['{"model":"fake","messages":[{"role":"user","content":"a"}],"n":0}', 'n'],
    ['{"model":"fake","messages":[{"role":"user","content":" "}]}', 'messages'],
    ['{"model":"fake","messages":[{"role":"system","content":"a"}]}', 'messages'],
    [
      '{"model":"fake","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}',
      'messages',
    ],
    ['{"model":"fake","messages":[{"role":"tool","tool_call_id":"x","content":"b"}]}', 'messages'],
    [
      '{"model":"fake","messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"function","function":{"name":"x"}}}',
      'tool_choice',
    ],
  ])('%s', (body, param) => refused('/chat/completions', body, param));

  test('n above 1 is one', async () => {
    const answer = await client.chat.completions.create({
      model: 'fake',
      messages: [{ role: 'user', content: 'hello' }],
      n: 3,
    });
    expect(answer.choices).toHaveLength(1);
  });
});

describe('responses', () => {
  test.each([
    ['{', null],
    ['{"input":"a"}', 'model'],
    ['{"model":"fake"}', 'input'],
    ['{"model":"fake","input":[]}', 'input'],
    ['{"model":"fake","input":" "}', 'input'],
    ['{"model":"fake","input":[{"role":"nobody","content":"a"}]}', 'input[0].role'],
    ['{"model":"fake","input":[{"type":"item_reference"}]}', 'input[0].id'],
    [
      '{"model":"fake","input":[{"role":"user","content":[{"type":"input_image","image_url":"ftp://a.example/b.png"}]}]}',
      'input[0].content[0].image_url',
    ],
    ['{"model":"fake","input":"a","temperature":9}', 'temperature'],
    ['{"model":"fake","input":"a","background":true,"store":false}', 'background'],
    [
      '{"model":"fake","input":[{"type":"mcp_approval_response","approval_request_id":"x","approve":true}]}',
      'input',
    ],
    ['{"model":"fake","input":[{"type":"function_call_output","call_id":"x","output":"y"}]}', 'input'],
    ['{"model":"fake","input":"a","previous_response_id":"x","conversation":"y"}', 'previous_response_id'],
    ['{"model":"fake","input":"a","tools":[{"type":"function","name":"a b"}]}', 'tools[0].name'],
    ['{"model":"fake","input":"a","metadata":{"a":1}}', 'metadata.a'],
    ['{"model":"fake","input":"a","stream":"yes"}', 'stream'],
  ])('%s', (body, param) => refused('/responses', body, param));
});

describe('conversations', () => {
  test.each([
    ['{', null],
    ['[]', null],
    ['{"metadata":"a"}', 'metadata'],
    ['{"metadata":{"a":1}}', 'metadata.a'],
    [JSON.stringify({ metadata: { a: 'x'.repeat(513) } }), 'metadata.a'],
    ['{"metadata":{"@own":"x"}}', 'metadata.@own'],
    ['{"items":7}', 'items'],
    ['{"items":[{"role":"nobody","content":"a"}]}', 'items[0].role'],
    ['{"items":[{"type":"mcp_approval_response","approval_request_id":"x","approve":true}]}', 'items'],
  ])('created with %s', (body, param) => refused('/conversations', body, param));

  test.each([
    ['{', null],
    ['{}', 'metadata'],
    ['{"metadata":[]}', 'metadata'],
    ['{"metadata":{"a":{}}}', 'metadata.a'],
  ])('changed to %s', async (body, param) => {
    const { id } = await client.conversations.create();
    await refused(`/conversations/${id}`, body, param);
  });
});

test('an unknown endpoint is refused in the format of the protocol', async () => {
  const response = await post('/images', '{}');
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
});
