import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../server/src/testing/free-port.ts';
import { type RunOptions, runParlance, spawnParlance } from '../testing/run-parlance.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-ports-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A new data folder for each start; `env` are settings. */
const options = (env: Record<string, string> = {}): RunOptions => ({
  cwd: mkdtempSync(join(root, 'case-')),
  env: { AUTH_USERS: 'ann:ann-password:user', LOG_LEVEL: 'silent', PARLANCE_GRACE: '0', ...env },
});

type Child = { readonly stdout: ReadableStream<Uint8Array> };

/** The first number after a colon that the process prints; the stream stays open. */
async function printedPort({ stdout }: Child): Promise<string> {
  const reader = stdout.getReader();
  const decoder = new TextDecoder();
  for (let text = ''; ; ) {
    const port = /:(\d+)\n/.exec(text)?.[1];
    if (port !== undefined) {
      reader.releaseLock();
      return port;
    }
    const { done, value } = await reader.read();
    if (done) throw new Error(`the process ended after ${JSON.stringify(text)}`);
    text += decoder.decode(value, { stream: true });
  }
}

/** A plain TCP server in its own process. */
const foreignListener = (host: string) =>
  Bun.spawn(
    [
      process.execPath,
      '-e',
      `const server = require('node:net').createServer().listen(0, '${host}', () => console.log(':' + server.address().port))`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  );

const refusal = (port: string, setting: string) => ({
  code: 1,
  stdout: '',
  stderr: `parlance: port ${port} on 127.0.0.1 is in use: choose another with ${setting}\n`,
});

describe('a port that another server of ours listens on stops the start with one line', () => {
  test('the default listener', async () => {
    await using first = spawnParlance(['serve'], options({ PORT: '0' }));
    const port = await printedPort(first);
    expect(await runParlance(['serve'], options({ PORT: port }))).toEqual(refusal(port, '--port PORT'));
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });

  test('an extra listener on the port of the other server', async () => {
    await using first = spawnParlance(['serve'], options({ PORT: '0' }));
    const port = await printedPort(first);
    const args = ['serve', '--port', '0', '--listen', 'broadcast=0', '--listen', `agentloop=${port}`];
    expect(await runParlance(args, options())).toEqual(refusal(port, '--listen agentloop=PORT'));
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });
});

describe('a port that another program listens on stops the start with one line', () => {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    test(`at ${host}`, async () => {
      await using foreign = foreignListener(host);
      const port = await printedPort(foreign);
      expect(await runParlance(['serve', '--port', port], options())).toEqual(refusal(port, '--port PORT'));
      const listeners = options({ PORT: '0', PARLANCE_LISTEN: `pusher=${port}` });
      expect(await runParlance(['serve'], listeners)).toEqual(refusal(port, '--listen pusher=PORT'));
    });
  }
});

test('a server stopped with open connections can be restarted on its port immediately', async () => {
  // Not one that the system chose: it would give it to another program in between.
  const port = String(freePort());
  const folder = options({ PORT: port });
  for (let start = 0; start < 3; start++) {
    await using server = spawnParlance(['serve'], folder);
    expect(await printedPort(server)).toBe(port);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    // The server closes first, so that its side of the connection stays in TIME_WAIT.
    server.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    await closed;
  }
});
