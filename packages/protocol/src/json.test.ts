import { describe, expect, test } from 'bun:test';
import { JsonValue, jsonNestsDeeper, jsonRefusal, MOST_KEYS, MOST_LEVELS, nestsDeeper } from './json.ts';

describe('jsonNestsDeeper', () => {
  test('counts arrays and objects, and nothing else', () => {
    expect(jsonNestsDeeper('[[1]]', 2)).toBe(false);
    expect(jsonNestsDeeper('[[1]]', 1)).toBe(true);
    expect(jsonNestsDeeper('{"a":{"b":[]}}', 3)).toBe(false);
    expect(jsonNestsDeeper('{"a":{"b":[]}}', 2)).toBe(true);
    expect(jsonNestsDeeper('[1,[2],[3],{"a":4}]', 2)).toBe(false);
    expect(jsonNestsDeeper('"text"', 0)).toBe(false);
  });

  test('brackets in strings do not count, whatever is escaped in them', () => {
    for (const text of ['[[[[', 'a"[[[[', '\\', '\\"[[[[', '\\\\"[{[{', '\u2028[[[[']) {
      const json = JSON.stringify({ [text]: [text] });
      expect(jsonNestsDeeper(json, 2)).toBe(false);
      expect(jsonNestsDeeper(json, 1)).toBe(true);
    }
  });

  test('says the same of the text as is so of the value', () => {
    for (const levels of [1, 5, MOST_LEVELS, MOST_LEVELS + 1, 3 * MOST_LEVELS]) {
      const json = `{"a":${'['.repeat(levels - 1)}"]"${']'.repeat(levels - 1)}}`;
      expect(jsonNestsDeeper(json)).toBe(nestsDeeper(JSON.parse(json)));
      expect(jsonNestsDeeper(json)).toBe(levels > MOST_LEVELS);
    }
  });

  test('text that is not JSON never gets more levels past it', () => {
    expect(jsonNestsDeeper('['.repeat(1_000_000))).toBe(true);
    expect(jsonNestsDeeper(`]]]]${'['.repeat(MOST_LEVELS)}`)).toBe(false);
    expect(() => JSON.parse(`]]]]${'['.repeat(MOST_LEVELS)}`)).toThrow();
  });
});

describe('JsonValue', () => {
  test('takes every kind of JSON as it is', () => {
    for (const value of [null, true, 0, -1.5, '', [], {}, [{ a: [null, 'b', { c: 1 }] }]])
      expect(JsonValue.parse(value)).toEqual(value);
  });

  test('refuses what JSON cannot say', () => {
    for (const value of [undefined, Number.POSITIVE_INFINITY, Number.NaN, [undefined], { a: () => 1 }, 1n])
      expect(JsonValue.safeParse(value).success).toBe(false);
  });

  test('refuses what is nested without end', () => {
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level++) value = [value];
    expect(JsonValue.safeParse(value).success).toBe(false);
  });
});

describe('jsonRefusal', () => {
  const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

  test('counts the keys of all objects together', () => {
    expect(jsonRefusal(keys(MOST_KEYS))).toBeNull();
    expect(jsonRefusal(keys(MOST_KEYS + 1))).toBe('has too many keys');
    expect(jsonRefusal(`[${'{"a":1},'.repeat(MOST_KEYS + 1)}1]`)).toBe('has too many keys');
  });

  test('does not count colons in strings, nor the elements of arrays', () => {
    expect(jsonRefusal(JSON.stringify({ text: '"a":1,'.repeat(MOST_KEYS + 1) }))).toBeNull();
    expect(jsonRefusal(`[${'1,'.repeat(MOST_KEYS + 1)}1]`)).toBeNull();
  });

  test('says that text is nested too deeply', () => {
    expect(jsonRefusal('['.repeat(MOST_LEVELS + 1))).toBe('is nested too deeply');
    expect(jsonRefusal('['.repeat(MOST_LEVELS))).toBeNull();
  });
});
