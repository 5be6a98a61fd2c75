import { describe, expect, test } from 'bun:test';
import type { PromptPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../core/ports/provider.ts';
import { openaiResponses } from './openai-responses.ts';

const OPTIONS = { key: 'k', baseUrl: 'https://api.openai.com/v1/', model: 'gpt-5.5' };
const ITEM = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed', status: 'completed' };
const SENT = { type: 'reasoning', summary: [], encrypted_content: 'sealed' };

const user = (...parts: PromptPart[]): PromptItem => ({ kind: 'user', parts });
const said = (text: string): PromptPart => ({ type: 'text', text });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const thought = (provider = 'openai-responses'): PromptItem => ({
  kind: 'reasoning',
  text: 'Hm.',
  sealed: { provider, data: ITEM },
});

type Asked = Partial<Prompt> & { readonly model?: string; readonly plain?: boolean };

function request(items: PromptItem[], { model = 'gpt-5.5', plain = false, ...more }: Asked = {}) {
  const prompt: Prompt = { task: 'chat', instructions: 'Be brief.', items, tools: [], ...more };
  const { url, headers, body } = openaiResponses({ ...OPTIONS, model }).request(prompt, plain);
  return { url, headers, body: JSON.parse(JSON.stringify(body)) as Record<string, unknown> };
}
const input = (...items: PromptItem[]) => request(items).body.input;

describe('a request of the Responses API', () => {
  test('goes to the address with the key, and disables storage', () => {
    const { url, headers, body } = request([user(said('Hi'))]);
    expect(url).toBe('https://api.openai.com/v1/responses');
    expect(headers).toEqual({ authorization: 'Bearer k' });
    expect(body).toMatchObject({
      model: 'gpt-5.5',
      instructions: 'Be brief.',
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      reasoning: { summary: 'auto' },
    });
  });

  test.each(['gpt-4.1-mini', 'gpt-4o', 'gpt-5-chat-latest', 'llama3'])(
    'does not ask %s for reasoning, which it would refuse',
    (model) => {
      const { body } = request([user(said('Hi'))], { model });
      expect(body).not.toHaveProperty('reasoning');
      expect(body).not.toHaveProperty('include');
    },
  );

  test.each(['o3', 'o4-mini', 'gpt-5', 'gpt-5.5', 'openai/gpt-5-mini', 'gpt-10', 'codex-mini-latest'])(
    'asks %s for reasoning',
    (model) => expect(request([user(said('Hi'))], { model }).body).toHaveProperty('include'),
  );

  test('begins with the same prefix as the previous one, under the same cache key', () => {
    const tools = ['b', 'a'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));
    const first = request([user(said('Hi'))], { tools }).body;
    const second = request([user(said('Hi')), { kind: 'text', text: 'Hello.' }, user(said('And?'))], {
      tools,
    });
    expect(second.body.prompt_cache_key).toBe(first.prompt_cache_key);
    expect(second.body.tools).toEqual(first.tools);
    expect((second.body.input as unknown[]).slice(0, 1)).toEqual(first.input as unknown[]);
    const other = request([user(said('Bye'))]).body;
    expect(other.prompt_cache_key).not.toBe(first.prompt_cache_key);
  });

  test('sends images, texts and documents, and names what it cannot send', () => {
    expect(
      input(
        user(
          said('Look'),
          { type: 'image', mime: 'image/png', data: 'AAAA' },
          { type: 'file', name: 'a.md', mime: 'text/markdown', data: base64('# Ü') },
          { type: 'file', name: 'a.pdf', mime: 'application/pdf', data: 'BBBB' },
          { type: 'file', name: 'a.zip', mime: 'application/zip', data: 'CCCC' },
        ),
      ),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          { type: 'input_text', text: 'File a.md:\n# Ü' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
          { type: 'input_text', text: '[File a.zip (application/zip) cannot be shown.]' },
        ],
      },
    ]);
  });

  test('sends URLs of images and files as they are, also in results', () => {
    const url = 'https://a.example/b';
    const image: PromptPart = { type: 'text', text: url, link: { kind: 'image', url } };
    const file: PromptPart = { type: 'text', text: url, link: { kind: 'file', url, name: 'b.pdf' } };
    const content = [
      { type: 'input_image', image_url: url },
      { type: 'input_file', file_url: url },
    ];
    const result: PromptItem = { kind: 'result', call: 'c', parts: [image, file], failed: false };
    expect(input(user(image, file), result)).toEqual([
      { role: 'user', content },
      { type: 'function_call_output', call_id: 'c', output: content },
    ]);
  });

  test('returns reasoning unchanged, before what it led to', () => {
    expect(input(user(said('Hi')), thought(), { kind: 'text', text: 'Hello.' })).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      SENT,
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
    ]);
  });

  test('leaves out reasoning of another vendor, without a seal, or without a result', () => {
    const unsealed: PromptItem = { kind: 'reasoning', text: 'Hm.' };
    const left = input(
      thought('anthropic'),
      unsealed,
      { kind: 'text', text: 'A' },
      thought(),
      user(said('B')),
    );
    expect(left).toEqual([
      { role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'B' }] },
    ]);
    expect(input(thought())).toEqual([]);
  });

  test('leaves reasoning between two calls in place, and pairs the results', () => {
    const call = (id: string): PromptItem => ({ kind: 'call', call: id, tool: 'clock', input: { in: id } });
    const result = (id: string): PromptItem => ({
      kind: 'result',
      call: id,
      parts: [said(id)],
      failed: false,
    });
    const held = { provider: 'openai-responses', data: [ITEM] };
    expect(input(call('a'), { ...call('b'), sealed: held } as PromptItem, result('a'), result('b'))).toEqual([
      { type: 'function_call', call_id: 'a', name: 'clock', arguments: '{"in":"a"}' },
      SENT,
      { type: 'function_call', call_id: 'b', name: 'clock', arguments: '{"in":"b"}' },
      { type: 'function_call_output', call_id: 'a', output: 'a' },
      { type: 'function_call_output', call_id: 'b', output: 'b' },
    ]);
  });

  test('shortens a long id in the same way in the call and in its result', () => {
    const id = 'x'.repeat(300);
    const [call, result] = input(
      { kind: 'call', call: id, tool: 'clock', input: {} },
      { kind: 'result', call: id, parts: [], failed: false },
    ) as { call_id: string }[];
    expect(call?.call_id.length).toBeLessThanOrEqual(64);
    expect(result?.call_id).toBe(call?.call_id ?? '');
  });

  test('has instructions at their place', () => {
    expect(input({ kind: 'system', text: 'Be brief.' })).toEqual([
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
    ]);
  });

  test('marks a summary as one', () => {
    expect(input({ kind: 'summary', text: 'They met.' })).toEqual([
      {
        role: 'user',
        content: [{ type: 'input_text', text: 'This is a summary of the conversation so far:\n\nThey met.' }],
      },
    ]);
  });

  test('in the plain form has no extras', () => {
    const { body } = request([thought(), { kind: 'text', text: 'A' }], { plain: true });
    expect(Object.keys(body).sort()).toEqual(['input', 'instructions', 'model', 'store', 'stream']);
    expect(body.input).toHaveLength(1);
  });
});
