import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../../server/src/testing/server.ts';
import { runParlance } from '../testing/run-parlance.ts';

let server: TestServer;
let home: string;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  home = mkdtempSync(join(tmpdir(), 'parlance-login-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(home, { recursive: true });
});

const run = (args: readonly string[], input = '') =>
  runParlance(args, { cwd: home, env: { HOME: home, PARLANCE_URL: server.http }, input });
const stored = () => JSON.parse(readFileSync(join(home, '.config/parlance/logins.json'), 'utf8'));

describe('a login', () => {
  test('is needed if a server requires it', async () => {
    const { code, stderr } = await run(['chat', '-p', 'x']);
    expect([code, stderr]).toEqual([
      4,
      `parlance: sign-in is required: run parlance login --url ${server.http}\n`,
    ]);
    expect((await run(['sessions'])).code).toBe(4);
  });

  test('with a wrong password is refused, and nothing is stored', async () => {
    const { code, stderr } = await run(['login', '--user', 'uma'], 'wrong\n');
    expect([code, stderr]).toEqual([4, expect.stringContaining('wrong name or password')]);
    expect((await run(['login', '--list'])).stdout).toBe('no stored logins\n');
  });

  test('is stored for its user alone, without the password', async () => {
    const { code, stdout } = await run(['login'], 'uma\numa-password\n');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^signed in at http\S+ as uma until \d{4}-/)]);
    const path = join(home, '.config/parlance/logins.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).not.toContain('uma-password');
    expect((await run(['chat', '-p', 'count to 3'])).stdout).toBe('1 2 3\n');
    expect((await run(['sessions', 'count'])).stdout).toContain('count to 3');
    expect((await run(['login', '--list'])).stdout).toContain(`${server.http}  uma  until`);
  });

  test('replaces the key of the login before', async () => {
    const before = stored()[server.http];
    await run(['login', '--user', 'uma'], 'uma-password\n');
    expect(stored()[server.http].key).not.toBe(before.key);
    const response = await fetch(`${server.http}/v1/server`, { headers: { 'x-api-key': before.key } });
    expect(response.status).toBe(401);
  });

  test('ends with --logout, which revokes the key', async () => {
    const { key } = stored()[server.http];
    expect((await run(['login', '--logout'])).stdout).toBe(`signed out at ${server.http}\n`);
    expect((await fetch(`${server.http}/v1/server`, { headers: { 'x-api-key': key } })).status).toBe(401);
    expect((await run(['login', '--list'])).stdout).toBe('no stored logins\n');
    expect((await run(['login', '--logout'])).stdout).toBe(`not signed in at ${server.http}\n`);
  });

  test('is not sent to another server', async () => {
    await run(['login', '--user', 'uma'], 'uma-password\n');
    const seen: (string | null)[] = [];
    using other = Bun.serve({
      port: 0,
      fetch(request) {
        seen.push(request.headers.get('authorization'));
        return new Response('{}', { status: 401 });
      },
    });
    await run(['chat', '-p', 'x', '--url', `http://127.0.0.1:${other.port}`]);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter(Boolean)).toEqual([]);
  });

  test('a damaged file counts as empty', async () => {
    mkdirSync(join(home, '.config/parlance'), { recursive: true });
    writeFileSync(join(home, '.config/parlance/logins.json'), '{"http');
    expect((await run(['chat', '-p', 'x'])).code).toBe(4);
  });
});
