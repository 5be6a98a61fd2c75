import { describe, expect, test } from 'bun:test';
import type { PromptItem } from '../../core/ports/provider.ts';
import { did, hear, promptOf, said, user } from './testing/ask.ts';

const compact = async (items: readonly PromptItem[]) => (await hear(promptOf(items, [], 'compaction'))).text;

const long: PromptItem[] = Array.from({ length: 200 }, (_, index) => [
  user(`request number ${index}: ${'please look at this very carefully '.repeat(10)}`),
  ...did(`c${index}`, 'shell', { command: ['step', String(index)] }, 'output '.repeat(100), index % 2 === 1),
  said(`answer number ${index} ${'which is quite long '.repeat(20)}`),
]).flat();

describe('a compaction', () => {
  test('contains requests, actions with their outcome, and the last answer', async () => {
    const padding = 'and there is more to say about it '.repeat(20);
    const text = await compact([
      user('My name is Ada. run git status'),
      ...did('a', 'shell', { command: ['git', 'status'] }, 'On branch main'),
      ...did('b', 'shell', { command: ['rm', 'x'] }, 'The user denied this call.', true),
      said(`Everything is clean ${padding}`),
    ]);
    expect(text).toContain("The user's name is Ada.");
    expect(text).toContain('“My name is Ada. run git status”');
    expect(text).toContain('git');
    expect(text).toContain('ok, On branch main');
    expect(text).toContain('denied');
    expect(text).toContain('Last answer: Everything is clean');
  });

  test('is never longer than a page, and contains the first and the latest entries', async () => {
    const text = await compact(long);
    expect(text.length).toBeLessThanOrEqual(1_500);
    expect(text).toContain('request number 0:');
    expect(text).toContain('request number 199:');
    expect(text).toContain('answer number 199');
  });

  test('is at most half as long as its source', async () => {
    const items = [
      user('Please tell me about the lighthouse on the island.'),
      said('It is red and white, and old.'),
    ];
    expect((await compact(items)).length).toBeLessThanOrEqual(40);
  });

  test('preserves an earlier compaction', async () => {
    const first = await compact([user('my name is Ada'), ...long]);
    const second = await compact([{ kind: 'summary', text: first }, ...long]);
    expect(second).toContain("The user's name is Ada.");
    expect(second).toContain('“my name is Ada”');
    expect(second.length).toBeLessThanOrEqual(1_500);
  });

  test('preserves part of a summary of another model', async () => {
    const items: PromptItem[] = [{ kind: 'summary', text: 'They planned a bridge.' }, ...long];
    expect(await compact(items)).toContain('They planned a bridge.');
  });
});
