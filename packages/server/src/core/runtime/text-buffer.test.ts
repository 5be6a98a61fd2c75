import { expect, test } from 'bun:test';
import { TextBuffer } from './text-buffer.ts';

test('a text is what was added to it, whenever it is asked for', () => {
  const text = new TextBuffer();
  let expected = '';
  for (let index = 0; index < 500; index++) {
    text.add(`${index} `);
    expected += `${index} `;
    expect(String(text)).toBe(expected);
    expect(text.length).toBe(expected.length);
  }
});

test('nothing is an empty text', () => {
  expect(String(new TextBuffer())).toBe('');
});
