import { expect, test } from 'bun:test';
import { positionOfError, positionOfValue } from './json-position.ts';

const INVALID: [text: string, line: number, column: number][] = [
  ['', 1, 1],
  ['{"a": 1', 1, 8],
  ['{\n  "a": 1,\n}', 3, 1],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ['{\n  "a": nothing\n}', 2, 8],
  ['{"a": "open\n}', 1, 7],
  ['{a: 1}', 1, 2],
  ['[1, 2,, 3]', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{} {}', 1, 4],
  ['{"a" 1}', 1, 6],
  ['{"a": "\\x"}', 1, 7],
];

for (const [text, line, column] of INVALID)
  test(`${JSON.stringify(text)} is invalid at ${line}:${column}`, () => {
    expect(() => JSON.parse(text)).toThrow();
    expect(positionOfError(text)).toEqual({ line, column });
  });

const VALID = ['{}', ' [] ', '"text"', '{"a": [1, -2.5e+3, true, null, {"b": "\\u00e9\\n"}], "c": {}}', '0'];

for (const text of VALID)
  test(`${JSON.stringify(text)} is valid`, () => {
    JSON.parse(text);
    expect(positionOfError(text)).toBeNull();
  });

test('a value is located, or what contains it', () => {
  const text =
    '{\n  "rules": [{ "port": 1 }],\n  "port": true,\n  "agents": [\n    {},\n    { "id": "a b" }\n  ]\n}';
  const at = (...path: PropertyKey[]) => positionOfValue(text, path);
  expect(at('port')).toEqual({ line: 3, column: 3 });
  expect(at('rules', 0, 'port')).toEqual({ line: 2, column: 15 });
  expect(at('agents', 1, 'id')).toEqual({ line: 6, column: 7 });
  expect(at('agents', 0, 'id')).toEqual({ line: 5, column: 5 });
  expect(at('missing')).toEqual({ line: 1, column: 1 });
});
