import { expect, test } from 'bun:test';
import { parseConfigText, positionOfValue, withSetting } from './config-text.ts';

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
  ['{ // note\n  "a": 1,\n}', 3, 1],
  ['{} /* open', 1, 4],
  ['{"a": 1 / 2}', 1, 9],
];

for (const [text, line, column] of INVALID)
  test(`${JSON.stringify(text)} is invalid at ${line}:${column}`, () => {
    expect(() => JSON.parse(text)).toThrow();
    expect(parseConfigText(text)).toEqual({ error: { line, column } });
  });

const VALID = ['{}', ' [] ', '"text"', '{"a": [1, -2.5e+3, true, null, {"b": "\\u00e9\\n"}], "c": {}}', '0'];

for (const text of VALID)
  test(`${JSON.stringify(text)} is valid`, () => {
    expect(parseConfigText(text)).toEqual({ value: JSON.parse(text) });
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

test('comments are ignored, and texts that look like comments are not', () => {
  const text = '// first\n{\n  /* why\n     so */ "url": "http://x/*y*/", // last\n  "__proto__": 1\n}\n';
  const parsed = parseConfigText(text);
  expect(parsed).toEqual({ value: JSON.parse('{"url": "http://x/*y*/", "__proto__": 1}') });
  expect(positionOfValue(text, ['url'])).toEqual({ line: 4, column: 12 });
  expect(positionOfValue(text, ['missing'])).toEqual({ line: 2, column: 1 });
});

test('a changed setting leaves comments and other settings as they are', () => {
  const text = '{\n  // the port of the proxy\n  "port": 4321, // not 80\n  "model": "a"\n}\n';
  expect(withSetting(text, 'model', 'b')).toBe(text.replace('"a"', '"b"'));
  expect(withSetting(text, 'missing', undefined)).toBe(text);
  const removed = withSetting(text, 'model', undefined);
  expect(removed).toContain('// the port of the proxy');
  expect(parseConfigText(removed)).toEqual({ value: { port: 4321 } });
  expect(parseConfigText(withSetting('{}', 'model', 'b'))).toEqual({ value: { model: 'b' } });
});
