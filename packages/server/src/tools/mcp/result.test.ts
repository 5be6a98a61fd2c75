import { describe, expect, test } from 'bun:test';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { dataOf, partsOf } from './result.ts';

const answer = (...content: CallToolResult['content']): CallToolResult => ({ content });

describe('parts', () => {
  test('that are not valid base64 are only named, since they could not be read back', () => {
    expect(partsOf(answer({ type: 'image', mimeType: 'image/png', data: 'not base64!' }))).toEqual([
      { type: 'text', text: '[image: content that cannot be read]' },
    ]);
  });

  test('are never empty', () => {
    expect(partsOf(answer())).toEqual([{ type: 'text', text: '(no output)' }]);
    expect(partsOf({ content: [], structuredContent: { a: 1 } })).toEqual([
      { type: 'text', text: '{"a":1}' },
    ]);
  });

  test('share one limit on text', () => {
    const part = { type: 'text' as const, text: 'x'.repeat(80_000) };
    const lengths = partsOf(answer(part, part, part)).map((cut) =>
      cut.type === 'text' ? cut.text.length : 0,
    );
    expect(lengths[0]).toBe(80_000);
    expect(lengths[1]).toBeWithin(20_000, 20_100);
    expect(lengths[2]).toBeLessThan(100);
  });
});

test('structured content becomes data if it is a small object', () => {
  expect(dataOf({ content: [], structuredContent: { a: 1 } })).toEqual({ a: 1 });
  expect(dataOf({ content: [], structuredContent: { a: 'x'.repeat(5_000) } })).toBeUndefined();
  expect(dataOf({ content: [], structuredContent: [1] })).toBeUndefined();
  expect(dataOf({ content: [] })).toBeUndefined();
});
