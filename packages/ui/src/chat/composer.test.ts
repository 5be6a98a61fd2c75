import { expect, test } from 'bun:test';
import { recalledText } from './composer.tsx';

const EARLIER = ['last', 'first'];

test('arrow up goes back through the messages, arrow down returns to the empty field', () => {
  expect(recalledText(EARLIER, { key: 'ArrowUp', text: '', at: -1 })).toEqual({ text: 'last', at: 0 });
  expect(recalledText(EARLIER, { key: 'ArrowUp', text: 'last', at: 0 })).toEqual({ text: 'first', at: 1 });
  expect(recalledText(EARLIER, { key: 'ArrowUp', text: 'first', at: 1 })).toBeNull();
  expect(recalledText(EARLIER, { key: 'ArrowDown', text: 'first', at: 1 })).toEqual({ text: 'last', at: 0 });
  expect(recalledText(EARLIER, { key: 'ArrowDown', text: 'last', at: 0 })).toEqual({ text: '', at: -1 });
});

test('a message that was typed or changed is not replaced', () => {
  expect(recalledText(EARLIER, { key: 'ArrowUp', text: 'typed', at: -1 })).toBeNull();
  expect(recalledText(EARLIER, { key: 'ArrowUp', text: 'last one', at: 0 })).toBeNull();
  expect(recalledText([], { key: 'ArrowUp', text: '', at: -1 })).toBeNull();
  expect(recalledText(EARLIER, { key: 'a', text: '', at: -1 })).toBeNull();
});
