import { describe, expect, test } from 'bun:test';
import { type Part, textPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../core/ports/provider.ts';
import { type AnthropicOptions, anthropic } from './anthropic.ts';

const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
const user = (text: string): PromptItem => ({ kind: 'user', parts: [textPart(text)] });
const call = (id: string, sealed?: { provider: string; data: string }): PromptItem => ({
  kind: 'call',
  call: id,
  tool: 'look',
  input: { at: id },
  sealed,
});
const result = (id: string, parts: Part[] = [textPart(`seen ${id}`)], failed = false): PromptItem => ({
  kind: 'result',
  call: id,
  parts,
  failed,
});
const thought = (text: string, data: { [key: string]: string }, provider = 'anthropic'): PromptItem => ({
  kind: 'reasoning',
  text,
  sealed: { provider, data },
});

type SentBlock = {
  type: string;
  text?: string;
  id?: string;
  tool_use_id?: string;
  content?: SentBlock[];
  [field: string]: unknown;
};
type SentMessage = { role: string; content: SentBlock[] };
type Sent = {
  messages: SentMessage[];
  system: SentBlock[];
  tools: object[];
  tool_choice?: object;
  thinking?: object;
  max_tokens: number;
};

function sent(
  items: PromptItem[],
  more: Partial<Prompt> = {},
  options: Partial<AnthropicOptions> = {},
): Sent {
  const wire = anthropic({ key: 'sk-secret', model: 'claude-haiku-4-5', ...options });
  const prompt: Prompt = { task: 'chat', instructions: 'Be kind.', items, tools: [tool], ...more };
  return JSON.parse(JSON.stringify(wire.request(prompt).body));
}

/** The messages without cache markers. */
const messages = (items: PromptItem[], more: Partial<Prompt> = {}): SentMessage[] =>
  sent(items, { task: 'summary', ...more }).messages;

test('the key is in its header and nowhere else', () => {
  const wire = anthropic({ key: 'sk-secret', model: 'm', baseUrl: 'http://localhost:1/' });
  const { url, headers, body } = wire.request({ task: 'chat', instructions: '', items: [], tools: [] });
  expect(url).toBe('http://localhost:1/v1/messages');
  expect(headers).toEqual({ 'x-api-key': 'sk-secret', 'anthropic-version': '2023-06-01' });
  expect(JSON.stringify(body)).not.toContain('sk-secret');
});

describe('calls and results', () => {
  test('results of parallel calls are together, directly after the calls, before user input', () => {
    const written = messages([
      user('a'),
      call('1'),
      call('2'),
      result('1'),
      user('b'),
      result('2', undefined, true),
    ]);
    expect(written).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: '1', name: 'look', input: { at: '1' } },
          { type: 'tool_use', id: '2', name: 'look', input: { at: '2' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: '1', content: [{ type: 'text', text: 'seen 1' }] },
          {
            type: 'tool_result',
            tool_use_id: '2',
            content: [{ type: 'text', text: 'seen 2' }],
            is_error: true,
          },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  test('text after a call is written before it', () => {
    const [, answer] = messages([user('a'), call('1'), { kind: 'text', text: 'Looking.' }, result('1')]);
    expect(answer?.content.map(({ type }) => type)).toEqual(['text', 'tool_use']);
  });

  test('ids of other vendors are made valid and unique', () => {
    const id = 'functions.look:0';
    const written = messages([user('a'), call(id), result(id), call(id), result(id)]);
    expect(written.flatMap(({ content }) => content.map((block) => block.id ?? block.tool_use_id))).toEqual([
      undefined,
      'functions_look_0',
      'functions_look_0',
      'functions_look_0_2',
      'functions_look_0_2',
    ]);
  });

  test('used tools are declared even if none may be used', () => {
    const body = sent([user('a'), call('1'), result('1')], { task: 'compaction', tools: [] });
    expect(body.tools).toEqual([{ name: 'look', input_schema: { type: 'object' } }]);
    expect(body.tool_choice).toEqual({ type: 'none' });
  });

  test('an empty result and a failed one with an image are valid for the vendor', () => {
    const image: Part = { type: 'image', mime: 'image/png', data: 'AAAA' };
    const written = messages([
      user('a'),
      call('1'),
      call('2'),
      result('1', []),
      result('2', [textPart('no'), image], true),
    ]);
    expect(written.at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: '1' },
      { type: 'tool_result', tool_use_id: '2', content: [{ type: 'text', text: 'no' }], is_error: true },
    ]);
  });
});

describe('messages', () => {
  test('images and documents, from the user and from a tool', () => {
    const image: Part = { type: 'image', mime: 'image/png', data: 'AAAA' };
    const file: Part = { type: 'file', name: 'a.pdf', mime: 'application/pdf', data: 'BBBB' };
    const shown = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
        title: 'a.pdf',
      },
    ];
    const written = messages([{ kind: 'user', parts: [image, file] }, call('1'), result('1', [image, file])]);
    expect(written[0]?.content).toEqual(shown);
    expect(written[2]?.content[0]?.content).toEqual(shown);
  });

  test('unsupported content is described in words', () => {
    const note = Buffer.from('grüße').toString('base64');
    const [message] = messages([
      {
        kind: 'user',
        parts: [
          { type: 'image', mime: 'image/svg+xml', data: 'AAAA' },
          { type: 'file', name: 'a.txt', mime: 'text/plain', data: note },
          { type: 'file', name: 'a.zip', mime: 'application/zip', data: 'AAAA' },
        ],
      },
    ]);
    expect(message?.content.map(({ text }) => text)).toEqual([
      '[An image of the type image/svg+xml cannot be shown.]',
      'File a.txt:\ngrüße',
      '[File a.zip (application/zip) cannot be shown.]',
    ]);
  });

  test('a summary is user input marked as a summary', () => {
    const [message] = messages([{ kind: 'summary', text: 'They greeted.' }, user('and now?')]);
    expect(message?.role).toBe('user');
    expect(message?.content[0]?.text).toBe('This is a summary of the conversation so far:\n\nThey greeted.');
    expect(message?.content[1]?.text).toBe('and now?');
  });

  test('blank text is left out, and no message is empty', () => {
    const written = messages([
      { kind: 'user', parts: [textPart(' ')] },
      { kind: 'text', text: '\n' },
      user('b'),
    ]);
    expect(written.map(({ role, content }) => [role, content[0]?.text])).toEqual([
      ['user', '(The user said nothing.)'],
      ['user', 'b'],
    ]);
  });

  test('the conversation begins and ends with the user', () => {
    for (const items of [[], [{ kind: 'text', text: 'Hello.' }]] satisfies PromptItem[][]) {
      const written = messages(items);
      expect(written[0]?.role).toBe('user');
      expect(written.at(-1)?.role).toBe('user');
    }
  });
});

describe('thinking', () => {
  test('is returned unchanged, before the calls it led to', () => {
    const [, answer] = messages([
      user('a'),
      thought('Hm.', { signature: 'c2ln' }),
      thought('', { redacted: 'cmVk' }),
      { kind: 'text', text: 'Wait.' },
      thought('', { signature: 'ZW1wdHk=' }),
      call('1'),
      result('1'),
    ]);
    expect(answer?.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'text', text: 'Wait.' },
      { type: 'thinking', thinking: '', signature: 'ZW1wdHk=' },
      { type: 'tool_use', id: '1', name: 'look', input: { at: '1' } },
    ]);
  });

  test('of another vendor, without a signature, or without a result is left out', () => {
    const written = messages([
      user('a'),
      thought('Hm.', { signature: 'x' }, 'google'),
      { kind: 'reasoning', text: 'Unsigned.' },
      { kind: 'text', text: 'Yes.' },
      thought('Later.', { signature: 'c2ln' }),
      user('b'),
    ]);
    expect(written[1]?.content).toEqual([{ type: 'text', text: 'Yes.' }]);
  });

  test.each([
    ['claude-opus-4-7', { type: 'adaptive', display: 'summarized' }],
    ['claude-sonnet-5-20260901', { type: 'adaptive', display: 'summarized' }],
    ['claude-haiku-4-5-20251001', undefined],
    ['claude-3-7-sonnet-20250219', undefined],
    ['some-other-model', undefined],
  ])('%s thinks by its name', (model, thinking) => {
    expect(sent([user('a')], {}, { model }).thinking).toEqual(thinking);
    expect(sent([user('a')], { task: 'summary' }, { model }).thinking).toBeUndefined();
  });

  test('with a budget leaves room for the answer', () => {
    const body = sent([user('a')], {}, { thinking: { budgetTokens: 4_000 }, maxTokens: 4_000 });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 4_000 });
    expect(body.max_tokens).toBe(8_000);
  });

  test('with a budget is turned off for an answer that did not begin with thinking', () => {
    const options = { thinking: { budgetTokens: 2_000 } };
    expect(sent([user('a'), call('1'), result('1')], {}, options).thinking).toBeUndefined();
    const own = [user('a'), thought('Hm.', { signature: 's' }), call('1'), result('1')];
    expect(sent(own, {}, options).thinking).toBeDefined();
  });

  test('the plain form has neither thinking nor cache markers', () => {
    const wire = anthropic({ key: 'k', model: 'claude-opus-4-7' });
    const items = [
      user('a'),
      thought('Hm.', { signature: 's' }),
      { kind: 'text', text: 'b' },
      user('c'),
    ] as const;
    const plain = JSON.stringify(
      wire.request({ task: 'chat', instructions: 'i', items, tools: [tool] }, true).body,
    );
    expect(plain).not.toMatch(/thinking|signature|cache_control/);
  });
});

describe('the cache', () => {
  const marks = (value: unknown): string[] =>
    JSON.stringify(value).match(/"cache_control":\{"type":"ephemeral"\}/g) ?? [];

  test('is marked after tools, instructions and the last two user messages', () => {
    const body = sent([user('a'), { kind: 'text', text: 'A' }, user('b'), call('1'), result('1')]);
    expect(marks(body)).toHaveLength(4);
    expect(marks(body.tools.at(-1))).toHaveLength(1);
    expect(marks(body.system.at(-1))).toHaveLength(1);
    expect(body.messages.map((message) => marks(message.content.at(-1)).length)).toEqual([0, 0, 1, 0, 1]);
  });

  test('is not written for a single question', () => {
    expect(marks(sent([user('a')], { task: 'explanation' }))).toEqual([]);
  });

  test('the prefix stays the same when the conversation continues', () => {
    const plain = (value: unknown) =>
      JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const items = [user('a'), call('1'), result('1')];
    const before = plain(sent(items).messages).slice(0, -1);
    const after = plain(sent([...items, { kind: 'text', text: 'Done.' }, user('b')]).messages);
    expect(after.startsWith(before)).toBe(true);
  });
});
