import { expect, test } from 'bun:test';
import { closest } from './closest.ts';

const NAMES = ['port', 'host', 'data', 'model', 'log-level'];

test.each([
  ['prot', 'port'],
  ['Port', 'port'],
  ['prt', 'port'],
  ['ports', 'port'],
  ['loglevel', 'log-level'],
  ['mdoel', 'model'],
])('%s is close to %s', (word, name) => {
  expect(closest(word, NAMES)).toBe(name);
});

test('a name that is not similar to any gets no suggestion', () => {
  for (const word of ['', 'x', 'verbose', 'db']) expect(closest(word, NAMES)).toBeNull();
});
