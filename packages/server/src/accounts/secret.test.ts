import { afterAll, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSecret } from './secret.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-secret-'));
afterAll(() => rmSync(root, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('a configured secret is used and nothing is stored', async () => {
  const data = join(root, 'given');
  expect(await loadSecret(data, 'x'.repeat(32))).toEqual(new TextEncoder().encode('x'.repeat(32)));
  expect(readdirSync(root)).not.toContain('given');
});

test('the first start creates a secret readable only by its owner, and the second start reads it', async () => {
  const data = join(root, 'made');
  const first = await loadSecret(data);
  expect(first.length).toBeGreaterThanOrEqual(32);
  expect(readdirSync(data)).toEqual(['secret']);
  expect(modeOf(join(data, 'secret'))).toBe(0o600);
  expect(await loadSecret(data)).toEqual(first);
});

test('servers that start concurrently agree on one secret', async () => {
  const data = join(root, 'race');
  const secrets = await Promise.all(Array.from({ length: 8 }, () => loadSecret(data)));
  expect(new Set(secrets.map((secret) => secret.toHex())).size).toBe(1);
  expect(readdirSync(data)).toEqual(['secret']);
});

test('the file mode is restored after a copy that lost it', async () => {
  const data = join(root, 'copied');
  await loadSecret(data);
  chmodSync(join(data, 'secret'), 0o644);
  await loadSecret(data);
  expect(modeOf(join(data, 'secret'))).toBe(0o600);
});

test('a stored secret that is too short is refused, not replaced', async () => {
  const data = mkdtempSync(join(root, 'short-'));
  writeFileSync(join(data, 'secret'), 'short\n');
  await expect(loadSecret(data)).rejects.toThrow(/shorter than 32 bytes/);
});
