import { describe, expect, test } from 'bun:test';
import { compact } from './digest.ts';
import type { Item } from './prompt.ts';
import { assistant, callAndResult, user } from './testing/ask.ts';

const long: Item[] = Array.from({ length: 200 }, (_, index) => [
  user(`request number ${index}: ${'please look at this very carefully '.repeat(10)}`),
  ...callAndResult('output '.repeat(100), { tool: 'shell', input: { command: ['step', String(index)] } }),
  assistant(`answer number ${index} ${'which is quite long '.repeat(20)}`),
]).flat();

describe('a compaction', () => {
  test('contains the name, the requests, the calls and the last answer', () => {
    const text = compact([
      user('My name is Ada. run git status'),
      ...callAndResult('On branch main', { tool: 'shell', input: { command: ['git', 'status'] } }),
      assistant(`Everything is clean ${'and there is more to say about it '.repeat(20)}`),
    ]);
    expect(text).toContain("The user's name is Ada.");
    expect(text).toContain('“My name is Ada. run git status”');
    expect(text).toContain('Called shell {"command":["git","status"]}');
    expect(text).toContain('Last answer: Everything is clean');
  });

  test('is never longer than a page, and contains the first and the latest entries', () => {
    const text = compact(long);
    expect(text.length).toBeLessThanOrEqual(1_500);
    expect(text).toContain('request number 0:');
    expect(text).toContain('request number 199:');
    expect(text).toContain('answer number 199');
  });

  test('is at most half as long as its source', () => {
    const items = [
      user('Please tell me about the lighthouse on the island.'),
      assistant('It is red and white, and old.'),
    ];
    expect(compact(items).length).toBeLessThanOrEqual(40);
  });

  test('preserves an earlier compaction, and part of a summary of another model', () => {
    const first = compact([user('my name is Ada'), ...long]);
    const second = compact([{ kind: 'summary', text: first }, ...long]);
    expect(second).toContain("The user's name is Ada.");
    expect(second).toContain('“my name is Ada”');
    expect(second.length).toBeLessThanOrEqual(1_500);
    expect(compact([{ kind: 'summary', text: 'They planned a bridge.' }, ...long])).toContain(
      'planned a bridge',
    );
  });
});
