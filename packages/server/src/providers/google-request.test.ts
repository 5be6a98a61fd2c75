import { describe, expect, test } from 'bun:test';
import { type Json, type Link, type PromptPart, textPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../core/ports/provider.ts';
import { google } from './google.ts';

const tool = {
  name: 'look',
  description: 'Looks.',
  parameters: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} },
};
const user = (text: string): PromptItem => ({ kind: 'user', parts: [textPart(text)] });
const call = (id: string, data?: { [key: string]: Json }): PromptItem => ({
  kind: 'call',
  call: id,
  tool: 'look',
  input: { at: id },
  sealed: data && { provider: 'google', data },
});
const result = (id: string, parts: PromptPart[] = [textPart(`seen ${id}`)], failed = false): PromptItem => ({
  kind: 'result',
  call: id,
  parts,
  failed,
});
const sealed = (text: string, data: { [key: string]: Json }, provider = 'google'): PromptItem => ({
  kind: 'reasoning',
  text,
  sealed: { provider, data },
});
const IMAGE: PromptPart = { type: 'image', mime: 'image/png', data: 'AAAA' };
const INLINE = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };

type Sent = {
  contents: { role: string; parts: object[] }[];
  systemInstruction?: object;
  tools?: object[];
  generationConfig?: object;
};

type Asked = Partial<Prompt> & { readonly plain?: boolean };

function sent(items: PromptItem[], model = 'gemini-2.5-flash', { plain = false, ...more }: Asked = {}): Sent {
  const prompt: Prompt = { task: 'chat', instructions: 'Be kind.', items, tools: [tool], ...more };
  return JSON.parse(JSON.stringify(google({ key: 'k', model }).request(prompt, plain).body));
}
const contents = (items: PromptItem[], model?: string) => sent(items, model).contents;

test('the key is in its header, never in the address', () => {
  const api = google({ key: 'secret', model: 'models/gemini-2.5-flash', baseUrl: 'http://localhost:1/' });
  const { url, headers, body } = api.request({ task: 'chat', instructions: '', items: [], tools: [] });
  expect(url).toBe('http://localhost:1/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
  expect(headers).toEqual({ 'x-goog-api-key': 'secret' });
  expect(JSON.stringify(body)).not.toContain('secret');
});

test('instructions and tools have their own fields', () => {
  const { systemInstruction, tools } = sent([user('a')]);
  expect(systemInstruction).toEqual({ parts: [{ text: 'Be kind.' }] });
  const parametersJsonSchema = { type: 'object', properties: {} };
  expect(tools).toEqual([
    { functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema }] },
  ]);
  expect(sent([user('a')], 'm', { instructions: '', tools: [] })).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'a' }] }],
  });
});

test.each([
  ['gemini-2.5-flash', true],
  ['gemini-3-pro-preview', true],
  ['gemini-flash-latest', true],
  ['gemini-2.0-flash', false],
  ['gemini-2.5-flash-image', false],
  ['gemma-3-27b-it', false],
])('%s is asked for its thoughts: %p', (model, asked) => {
  const thinkingConfig = { includeThoughts: true };
  expect(sent([user('a')], model).generationConfig).toEqual(asked ? { thinkingConfig } : undefined);
  expect(sent([user('a')], model, { task: 'summary' }).generationConfig).toBeUndefined();
});

describe('calls and results', () => {
  test('results are one content, directly after the calls; text between comes after them', () => {
    expect(
      contents([user('a'), call('1'), call('2'), result('1'), user('b'), result('2', undefined, true)]),
    ).toEqual([
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'look', args: { at: '1' } } },
          { functionCall: { name: 'look', args: { at: '2' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'look', response: { output: 'seen 1' } } },
          { functionResponse: { name: 'look', response: { error: 'seen 2' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'b' }] },
    ]);
  });

  test('an id is sent if the vendor gave one', () => {
    const [, calls, results] = contents([user('a'), call('fc-1_2', { id: 'fc-1' }), result('fc-1_2')]);
    expect(calls?.parts).toEqual([{ functionCall: { id: 'fc-1', name: 'look', args: { at: 'fc-1_2' } } }]);
    expect(results?.parts).toEqual([
      { functionResponse: { id: 'fc-1', name: 'look', response: { output: 'seen fc-1_2' } } },
    ]);
  });

  test('a signature is returned with its call; the first call of an answer always has one if it is checked', () => {
    const items = [
      user('a'),
      call('1', { signature: 's' }),
      call('2'),
      result('1'),
      result('2'),
      call('3'),
      result('3'),
    ];
    const signatures = (model: string) =>
      contents(items, model)
        .filter(({ role }) => role === 'model')
        .map(({ parts }) => parts.map((part) => ('thoughtSignature' in part ? part.thoughtSignature : null)));
    expect(signatures('gemini-2.5-flash')).toEqual([['s', null], [null]]);
    expect(signatures('gemini-3-pro')).toEqual([['s', null], ['skip_thought_signature_validator']]);
  });

  test('images of a result are inside of it if the model supports that, else they follow', () => {
    const items = [user('a'), call('1'), call('2'), result('1', [textPart('ok'), IMAGE]), result('2')];
    const [, , together] = contents(items, 'gemini-3-pro');
    expect(together?.parts[0]).toEqual({
      functionResponse: { name: 'look', response: { output: 'ok' }, parts: [INLINE] },
    });
    const [, , results, images] = contents(items, 'gemini-2.5-flash');
    expect(results?.parts).toEqual([
      { functionResponse: { name: 'look', response: { output: 'ok' } } },
      { functionResponse: { name: 'look', response: { output: 'seen 2' } } },
    ]);
    expect(images).toEqual({ role: 'user', parts: [{ text: 'From look:' }, INLINE] });
  });
});

describe('thoughts', () => {
  test('are returned part by part, each with its signature', () => {
    const spans = [
      { signature: 't', from: 5, to: 10 },
      { signature: 'e', from: 11, to: 11 },
    ];
    const [, answer] = contents([
      user('a'),
      sealed('Hm.', { signature: 's' }),
      { kind: 'text', text: 'Yes, it is.' },
      sealed('', { spans }),
      call('1', { signature: 'c' }),
      result('1'),
    ]);
    expect(answer?.parts).toEqual([
      { text: 'Hm.', thought: true, thoughtSignature: 's' },
      { text: 'Yes, ' },
      { text: 'it is', thoughtSignature: 't' },
      { text: '.' },
      { text: '', thoughtSignature: 'e' },
      { functionCall: { name: 'look', args: { at: '1' } }, thoughtSignature: 'c' },
    ]);
  });

  test('a signature without text is separate', () => {
    const spans = [{ signature: 'e', from: 0, to: 0 }];
    const [, answer] = contents([user('a'), sealed('Told.', { spans }), user('b')]);
    expect(answer?.parts).toEqual([{ text: '', thoughtSignature: 'e' }]);
  });

  test('of another vendor, or without a signature, are left out', () => {
    const unsigned: PromptItem = { kind: 'reasoning', text: 'Hm.' };
    const written = contents([user('a'), sealed('x', { signature: 's' }, 'anthropic'), unsigned, user('b')]);
    expect(written).toEqual([{ role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }]);
  });

  test('are not in the plain form', () => {
    const items = [user('a'), sealed('Hm.', { signature: 's' }), call('1', { signature: 's' }), result('1')];
    expect(JSON.stringify(sent(items, 'gemini-2.5-flash', { plain: true }))).not.toMatch(
      /signature|thought|thinking/i,
    );
  });
});

test('images, documents and text files; unsupported content is described in words', () => {
  const note = Buffer.from('grüße').toString('base64');
  const [content] = contents([
    {
      kind: 'user',
      parts: [
        IMAGE,
        { type: 'file', name: 'a.pdf', mime: 'application/pdf', data: 'BBBB' },
        { type: 'file', name: 'a.txt', mime: 'text/plain', data: note },
        { type: 'file', name: 'a.zip', mime: 'application/zip', data: 'AAAA' },
        { type: 'image', mime: 'image/gif', data: 'AAAA' },
      ],
    },
  ]);
  expect(content?.parts).toEqual([
    INLINE,
    { inlineData: { mimeType: 'application/pdf', data: 'BBBB' } },
    { text: 'File a.txt:\ngrüße' },
    { text: '[File a.zip (application/zip) cannot be shown.]' },
    { text: '[An image of the type image/gif cannot be shown.]' },
  ]);
});

test('images and files on the web, if the model takes them; others as text', () => {
  const link = (url: string, given: Omit<Link, 'url'>): PromptPart => ({
    type: 'text',
    text: url,
    link: { url, ...given },
  });
  const parts = [
    link('https://a.example/a', { kind: 'image' }),
    link('https://a.example/b', { kind: 'file', mime: 'application/pdf' }),
    link('https://a.example/c', { kind: 'image', mime: 'image/gif' }),
    link('http://a.example/d', { kind: 'image', mime: 'image/png' }),
  ];
  expect(contents([{ kind: 'user', parts }])[0]?.parts).toEqual([
    { fileData: { fileUri: 'https://a.example/a' } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/b' } },
    { text: 'https://a.example/c' },
    { text: 'http://a.example/d' },
  ]);
  const earlier = contents([{ kind: 'user', parts }], 'gemini-2.0-flash')[0]?.parts;
  expect(earlier).toEqual(
    ['a', 'b', 'c']
      .map((name) => ({ text: `https://a.example/${name}` }))
      .concat({ text: 'http://a.example/d' }),
  );
});

test('an instruction in the conversation is user input marked as one', () => {
  expect(contents([user('Hi'), { kind: 'system', text: 'Be brief.' }])).toEqual([
    { role: 'user', parts: [{ text: 'Hi' }, { text: '<system>\nBe brief.\n</system>' }] },
  ]);
});

test('a summary is user input marked as a summary', () => {
  const [content] = contents([{ kind: 'summary', text: 'They greeted.' }, user('and now?')]);
  expect(content).toEqual({
    role: 'user',
    parts: [{ text: 'This is a summary of the conversation so far:\n\nThey greeted.' }, { text: 'and now?' }],
  });
});

test('the conversation begins and ends with the user, and no content is empty', () => {
  const silent: PromptItem = { kind: 'user', parts: [] };
  for (const items of [[], [{ kind: 'text', text: 'Hello.' }], [silent]] satisfies PromptItem[][]) {
    const written = contents(items);
    expect(written[0]?.role).toBe('user');
    expect(written.at(-1)?.role).toBe('user');
    expect(written.filter(({ parts }) => parts.length === 0)).toEqual([]);
  }
});
