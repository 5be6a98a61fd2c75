import { expect, test } from 'bun:test';
import { TextBuffer } from './text-buffer.ts';

test('contains all added text, whenever it is read', () => {
  const text = new TextBuffer();
  let expected = '';
  for (let index = 0; index < 500; index++) {
    text.add(`${index} `);
    expected += `${index} `;
    expect(String(text)).toBe(expected);
    expect(text.length).toBe(expected.length);
  }
});

test('an empty buffer yields an empty string', () => {
  expect(String(new TextBuffer())).toBe('');
});
