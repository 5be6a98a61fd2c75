import { describe, expect, test } from 'bun:test';
import { type Link, type PromptPart, textPart } from '@parlance/protocol';
import type { PromptItem } from '../core/ports/provider.ts';
import { call, messages, result, sent, user } from '../testing/providers/anthropic-request.ts';
import { anthropic } from './anthropic.ts';

test('the key is in its header and nowhere else', () => {
  const api = anthropic({ key: 'sk-secret', model: 'm', baseUrl: 'http://localhost:1/' });
  const { url, headers, body } = api.request({ task: 'chat', instructions: '', items: [], tools: [] });
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
    const image: PromptPart = { type: 'image', mime: 'image/png', data: 'AAAA' };
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
    const image: PromptPart = { type: 'image', mime: 'image/png', data: 'AAAA' };
    const file: PromptPart = { type: 'file', name: 'a.pdf', mime: 'application/pdf', data: 'BBBB' };
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

  test('images and documents on the web, and others as text', () => {
    const url = 'https://a.example/b';
    const link = (given: Omit<Link, 'url'>): PromptPart => ({
      type: 'text',
      text: url,
      link: { url, ...given },
    });
    const [message] = messages([
      {
        kind: 'user',
        parts: [
          link({ kind: 'image' }),
          link({ kind: 'file', name: 'b.pdf', mime: 'application/pdf' }),
          link({ kind: 'image', mime: 'image/svg+xml' }),
          link({ kind: 'file', mime: 'text/csv' }),
        ],
      },
    ]);
    const source = { type: 'url', url };
    expect(message?.content as unknown[]).toEqual([
      { type: 'image', source },
      { type: 'document', source, title: 'b.pdf' },
      { type: 'text', text: url },
      { type: 'text', text: url },
    ]);
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

  test('an instruction in the conversation is user input marked as one', () => {
    const [message] = messages([user('Hi'), { kind: 'system', text: 'Be brief.' }]);
    expect(message?.role).toBe('user');
    expect(message?.content[1]?.text).toBe('<system>\nBe brief.\n</system>');
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
