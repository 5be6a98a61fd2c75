import { expect, test } from 'bun:test';
import { expiryAfter, LIFETIMES } from './keys.tsx';
import { rolesWithin } from './section.tsx';

test('a key expires after the chosen time, or never', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  expect(Object.keys(LIFETIMES).map((lifetime) => expiryAfter(lifetime, now))).toEqual([
    '2030-01-31T00:00:00.000Z',
    '2030-04-01T00:00:00.000Z',
    '2031-01-01T00:00:00.000Z',
    undefined,
  ]);
});

test('a key has no role above that of its user', () => {
  expect(rolesWithin('user')).toEqual(['user']);
  expect(rolesWithin('developer')).toEqual(['user', 'developer']);
  expect(rolesWithin('admin')).toEqual(['user', 'developer', 'admin']);
});
