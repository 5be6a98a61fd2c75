import { expect, test } from 'bun:test';
import { TextBuffer } from './text-buffer.ts';

test('the text is everything that was added, whenever it is read', () => {
  const text = new TextBuffer();
  let expected = '';
  for (let index = 0; index < 500; index++) {
    text.add(`${index} `);
    expected += `${index} `;
    expect(String(text)).toBe(expected);
    expect(text.length).toBe(expected.length);
  }
});

test('an empty buffer is an empty text', () => {
  expect(String(new TextBuffer())).toBe('');
});
