import { expect, test } from 'bun:test';
import { originIn } from './origins.tsx';

test.each([
  ['https://chat.example.com', 'https://chat.example.com'],
  [' https://Chat.example.com/room?id=1 ', 'https://chat.example.com'],
  ['http://10.0.0.5:8080/', 'http://10.0.0.5:8080'],
  ['chrome-extension://abcdefghijklmnop/', 'chrome-extension://abcdefghijklmnop'],
])('%s has an origin', (entered, origin) => expect(originIn(entered)).toBe(origin));

test.each(['', 'chat.example.com', 'localhost:5173', '*', 'https://*.example.com', 'file:///srv', 'null'])(
  '“%s” has none that can be allowed',
  (entered) => expect(originIn(entered)).toBeNull(),
);
