import { describe, expect, test } from 'bun:test';
import { JsonValue } from './json.ts';
import {
  decodedUri,
  jsonNestsDeeper,
  jsonRefusal,
  MAX_KEYS,
  MAX_LEVELS,
  nestsDeeper,
  parsedJson,
  parsedObject,
} from './json-text.ts';

describe('jsonNestsDeeper', () => {
  test('counts only arrays and objects', () => {
    expect(jsonNestsDeeper('[[1]]', 2)).toBe(false);
    expect(jsonNestsDeeper('[[1]]', 1)).toBe(true);
    expect(jsonNestsDeeper('{"a":{"b":[]}}', 3)).toBe(false);
    expect(jsonNestsDeeper('{"a":{"b":[]}}', 2)).toBe(true);
    expect(jsonNestsDeeper('[1,[2],[3],{"a":4}]', 2)).toBe(false);
    expect(jsonNestsDeeper('"text"', 0)).toBe(false);
  });

  test('ignores brackets in strings, whatever is escaped in them', () => {
    for (const text of ['[[[[', 'a"[[[[', '\\', '\\"[[[[', '\\\\"[{[{', '\u2028[[[[']) {
      const json = JSON.stringify({ [text]: [text] });
      expect(jsonNestsDeeper(json, 2)).toBe(false);
      expect(jsonNestsDeeper(json, 1)).toBe(true);
    }
  });

  test('agrees with the nesting of the parsed value', () => {
    for (const levels of [1, 5, MAX_LEVELS, MAX_LEVELS + 1, 3 * MAX_LEVELS]) {
      const json = `{"a":${'['.repeat(levels - 1)}"]"${']'.repeat(levels - 1)}}`;
      expect(jsonNestsDeeper(json)).toBe(nestsDeeper(JSON.parse(json)));
      expect(jsonNestsDeeper(json)).toBe(levels > MAX_LEVELS);
    }
  });

  test('never allows more levels in text that is not JSON', () => {
    expect(jsonNestsDeeper('['.repeat(1_000_000))).toBe(true);
    expect(jsonNestsDeeper(`]]]]${'['.repeat(MAX_LEVELS)}`)).toBe(false);
    expect(() => JSON.parse(`]]]]${'['.repeat(MAX_LEVELS)}`)).toThrow();
  });
});

describe('JsonValue', () => {
  test('accepts every kind of JSON unchanged', () => {
    for (const value of [null, true, 0, -1.5, '', [], {}, [{ a: [null, 'b', { c: 1 }] }]])
      expect(JsonValue.parse(value)).toEqual(value);
  });

  test('refuses values that JSON cannot represent', () => {
    for (const value of [undefined, Number.POSITIVE_INFINITY, Number.NaN, [undefined], { a: () => 1 }, 1n])
      expect(JsonValue.safeParse(value).success).toBe(false);
  });

  test('refuses values nested too deeply', () => {
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level++) value = [value];
    expect(JsonValue.safeParse(value).success).toBe(false);
  });
});

describe('jsonRefusal', () => {
  const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

  test('counts the keys of all objects together', () => {
    expect(jsonRefusal(keys(MAX_KEYS))).toBeNull();
    expect(jsonRefusal(keys(MAX_KEYS + 1))).toBe('has too many keys');
    expect(jsonRefusal(`[${'{"a":1},'.repeat(MAX_KEYS + 1)}1]`)).toBe('has too many keys');
  });

  test('ignores colons in strings and the elements of arrays', () => {
    expect(jsonRefusal(JSON.stringify({ text: '"a":1,'.repeat(MAX_KEYS + 1) }))).toBeNull();
    expect(jsonRefusal(`[${'1,'.repeat(MAX_KEYS + 1)}1]`)).toBeNull();
  });

  test('reports text that is nested too deeply', () => {
    expect(jsonRefusal('['.repeat(MAX_LEVELS + 1))).toBe('is nested too deeply');
    expect(jsonRefusal('['.repeat(MAX_LEVELS))).toBeNull();
  });
});

test('text that is not JSON has no value, and null is one', () => {
  expect(parsedJson('{"a":1}')).toEqual({ a: 1 });
  expect(parsedJson('null')).toBeNull();
  expect(parsedJson('')).toBeUndefined();
  expect(parsedJson('{"a":')).toBeUndefined();
});

test('only objects are objects', () => {
  expect(parsedObject('{"a":1}')).toEqual({ a: 1 });
  for (const text of ['null', '[]', '1', '"a"', 'a']) expect(parsedObject(text)).toBeNull();
});

test('invalid percent-encoding is null', () => {
  expect(decodedUri('a%20b')).toBe('a b');
  expect(decodedUri('%zz')).toBeNull();
});
