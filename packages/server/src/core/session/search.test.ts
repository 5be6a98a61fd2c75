import { describe, expect, test } from 'bun:test';
import { excerpt } from './excerpt.ts';
import { parseSearch } from './search.ts';

const parsed = (text: string) =>
  parseSearch(text).map(({ words, prefix }) => `${words.join(' ')}${prefix ? '*' : ''}`);

describe('a search', () => {
  test('has words and quoted phrases; the last word may be a prefix', () => {
    expect(parsed('Red "Green Blue" yel')).toEqual(['red', 'green blue', 'yel*']);
    expect(parsed('red "green blue"')).toEqual(['red', 'green blue']);
    expect(parsed('red ')).toEqual(['red']);
    expect(parsed('src/main.ts 東京')).toEqual(['src main ts', '東 京*']);
  });

  test('has no other syntax', () => {
    expect(parsed('red* OR text:blue NOT (green) ^x "open')).toEqual(
      'red/or/text blue/not/green/x/open*'.split('/'),
    );
    for (const text of ['', '  ', '"', '""', '***', "'; DROP TABLE messages; --".slice(0, 2), '&|!<->'])
      expect(parsed(text)).toEqual([]);
  });

  test('has a limited number of words', () => {
    expect(parseSearch('a '.repeat(100)).length).toBe(20);
  });
});

describe('an excerpt', () => {
  const shown = (text: string, search: string) =>
    excerpt(text, parseSearch(search))
      .map(({ text, match }) => (match ? `[${text}]` : text))
      .join('');

  test('marks the matches', () => {
    expect(shown('A red house, a Réd car', 'red')).toBe('A [red] house, a [Réd] car');
    expect(shown('one two three two', '"two three"')).toBe('one [two three] two');
    expect(shown('beginnings', 'begin')).toBe('[beginnings]');
  });

  test('begins shortly before the first match and is limited', () => {
    const text = `${'x '.repeat(500)}needle ${'😀'.repeat(500)}`;
    const found = shown(text, 'needle');
    expect(found).toStartWith('…');
    expect(found).toEndWith('…');
    expect(found).toContain('[needle]');
    expect(found.length).toBeLessThan(260);
    expect(found.isWellFormed()).toBe(true);
  });
});
