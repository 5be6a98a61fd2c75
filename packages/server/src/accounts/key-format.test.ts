import { expect, test } from 'bun:test';
import { idOf, matches, newKey } from './key-format.ts';

test('a key has a prefix, its id and 256 random bits, in letters and digits', () => {
  const { id, text, hash } = newKey();
  expect(text).toMatch(/^plk_[0-9A-Za-z]{16}_[0-9A-Za-z]{43}$/);
  expect(idOf(text)).toBe(id);
  expect(matches(text, hash)).toBe(true);
  expect(`${id}${hash}`).not.toContain(text.slice(-43));
});

test('no two keys are alike, and every letter occurs', () => {
  const texts = Array.from({ length: 200 }, () => newKey().text);
  expect(new Set(texts).size).toBe(200);
  expect(new Set(texts.map((text) => text.slice(4)).join('')).size).toBe(63);
});

test('a text that differs in anything has no id or does not match', () => {
  const { text, hash } = newKey();
  const last = text.at(-1) === 'a' ? 'b' : 'a';
  expect(matches(text.slice(0, -1) + last, hash)).toBe(false);
  for (const other of ['', 'plk_', text.slice(1), `${text}a`, `${text} `, text.slice(0, -1), `x${text}`])
    expect(idOf(other)).toBeNull();
  expect(matches(text, '')).toBe(false);
});
