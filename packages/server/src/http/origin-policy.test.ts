import { expect, test } from 'bun:test';
import { originPolicy } from './origin-policy.ts';

const extension = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';

function opened(allowedOrigins: string[] = []) {
  const lines: string[] = [];
  const ignore = () => undefined;
  const log = {
    debug: ignore,
    info: ignore,
    warn: (_: object, line: string) => void lines.push(line),
    error: ignore,
  };
  const admit = originPolicy({ host: '127.0.0.1', allowedOrigins }, { log });
  const ask = (headers: Record<string, string>, url = 'http://127.0.0.1:3000/') =>
    admit(new Request(url, { headers: { host: '127.0.0.1:3000', ...headers } }));
  return { lines, ask };
}

test('an unknown extension is refused, and the log explains once how to allow it', async () => {
  const { lines, ask } = opened();
  for (let count = 0; count < 5; count++)
    expect(await ask({ origin: extension })).toContain('is not allowed');
  expect(lines).toEqual([
    `Origin "${extension}" is not allowed: allow it in the console (Admin → Origins) or with --origin ${extension}; the Parlance extension is paired instead: open its side panel`,
  ]);
});

test.each([
  'chrome-extension://abc; rm -rf ~',
  'chrome-extension://$(id)',
  'https://a.example/`id`',
  'file://a',
  `https://${'a'.repeat(300)}`,
])('the log suggests no flag for an origin that is not a plain name: %s', async (origin) => {
  const { lines, ask } = opened();
  await ask({ origin });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toEndWith('allow it in the console (Admin → Origins) or with --origin');
});

test('each extension has its own log line', async () => {
  const { lines, ask } = opened();
  await ask({ origin: extension });
  await ask({ origin: extension.replace('abc', 'bca') });
  expect(lines).toHaveLength(2);
});

test('nothing is logged for accepted requests, nor for a refused Host', () => {
  const { lines, ask } = opened([extension]);
  expect(ask({ origin: extension })).toBeNull();
  expect(ask({})).toBeNull();
  expect(ask({ host: 'evil.example' }, 'http://evil.example/')).toContain('is not this server');
  expect(lines).toEqual([]);
});

test('forged origins fill neither memory nor log', async () => {
  const { lines, ask } = opened();
  for (let count = 0; count < 1_500; count++) await ask({ origin: `http://evil-${count}.example` });
  expect(lines).toHaveLength(1_000);
});
