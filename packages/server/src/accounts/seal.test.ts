import { expect, test } from 'bun:test';
import { seal, unseal } from './seal.ts';

const secret = new TextEncoder().encode('a secret of at least 32 bytes ...');
const value = { openaiKey: 'sk-very-secret', list: [1, 'ü'] };

test('only the same secret opens what it sealed', async () => {
  const sealed = await seal(value, secret);
  expect(atob(sealed)).not.toContain('sk-very-secret');
  expect(await unseal(sealed, secret)).toEqual(value);
  expect(await unseal(sealed, new TextEncoder().encode('another secret of at least 32 bytes'))).toBeNull();
});

test('the same value is sealed differently each time', async () => {
  expect(await seal(value, secret)).not.toBe(await seal(value, secret));
});

test('a sealed value that was changed or cut is refused', async () => {
  const bytes = Buffer.from(await seal(value, secret), 'base64');
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(await unseal(changed.toString('base64'), secret)).toBeNull();
  }
  for (const text of ['', 'AAAA', bytes.subarray(0, 20).toString('base64'), '\0 no base64'])
    expect(await unseal(text, secret)).toBeNull();
});
