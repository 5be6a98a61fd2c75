import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CERTIFICATE, PRIVATE_KEY } from '../../../server/src/testing/tools/certificate.ts';
import { runParlance } from '../testing/run-parlance.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlance-certificates-'));
  writeFileSync(join(cwd, 'authority.pem'), CERTIFICATE);
});
afterAll(() => rmSync(cwd, { recursive: true }));

const ASK = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n';
const COMMANDS: readonly (readonly [args: readonly string[], input?: string])[] = [
  [['chat', '-p', 'secret plans']],
  [['login', '--user', 'dev'], 'dev-password\n'],
  [['acp'], ASK],
  [['mcp'], ASK],
];

/** Runs the command against a server that counts the requests it receives. */
async function requestsOf(
  [args, input]: (typeof COMMANDS)[number],
  { isSecure, env = {} }: { readonly isSecure: boolean; readonly env?: Record<string, string> },
): Promise<number> {
  let requests = 0;
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    ...(isSecure && { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } }),
    fetch() {
      requests++;
      return new Response('{}', { status: 401 });
    },
  });
  const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${server.port}`;
  await runParlance([...args, '--url', url, ...(args[0] === 'login' ? [] : ['--token', 'plk_secret'])], {
    cwd,
    env,
    input,
  });
  return requests;
}

describe.each(COMMANDS.map((command) => [command[0].join(' '), command] as const))(
  'parlance %s',
  (_, command) => {
    test('sends nothing to a server with a certificate that no authority has signed', async () => {
      expect(await requestsOf(command, { isSecure: true })).toBe(0);
    });

    test('sends nothing to a server with a certificate for another name', async () => {
      const env = { NODE_EXTRA_CA_CERTS: join(cwd, 'authority.pem') };
      expect(await requestsOf(command, { isSecure: true, env })).toBe(0);
    });

    test('does send without TLS, if the user names such an address', async () => {
      expect(await requestsOf(command, { isSecure: false })).toBeGreaterThan(0);
    });
  },
);
