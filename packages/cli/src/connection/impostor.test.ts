/** Another user of the machine listens where a server of this user could be. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, connect as openSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../../../e2e/server-process.ts';
import { runParlance } from '../testing/run-parlance.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'parlance-impostor-'));
  writeFileSync(join(home, 'plans.txt'), 'secret plans');
});
afterAll(() => rmSync(home, { recursive: true }));

const place = (name: string) => {
  const path = join(home, name);
  mkdirSync(path, { recursive: true });
  return path;
};

const ANSWER = JSON.stringify({ version: '1', principal: { id: 'x', role: 'admin' }, token: 'x', key: 'x' });
const RESPONSE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`;

type Impostor = AsyncDisposable & {
  readonly env: Record<string, string>;
  readonly url: string;
  /** all that it received, and its connections */
  received(): { readonly bytes: string; readonly connections: number };
};

/** Accepts everything, like a server in open mode, or relays it to another port. */
async function impostorAt(host: string, { port = 0, relayTo }: { port?: number; relayTo?: string } = {}) {
  let bytes = '';
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => undefined);
    const real = relayTo === undefined ? null : openSocket(Number(new URL(relayTo).port), '127.0.0.1');
    real?.on('error', () => undefined).pipe(socket);
    socket.on('data', (data) => {
      bytes += data.toString('latin1');
      if (real) real.write(data);
      else socket.write(RESPONSE);
    });
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen({ port, host }, () => resolve()),
  );
  const address = server.address();
  const bound = typeof address === 'object' ? String(address?.port) : '';
  const impostor: Impostor = {
    env: { HOST: host, PORT: bound },
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    received: () => ({ bytes, connections }),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return impostor;
}

const NOTHING = { bytes: '', connections: 0 };

/** Every command that looks for a server, with what it would send. */
const COMMANDS: readonly (readonly [args: readonly string[], code: number, input?: string])[] = [
  [['chat', '-p', 'secret plans'], 0],
  [['chat', '-p', 'read this', '--file', '../plans.txt'], 0],
  [['sessions'], 0],
  [['open', '--print'], 4],
  [['doctor', '--no-model'], 1],
  [['login', '--user', 'dev'], 4, 'dev-password\n'],
  [['login', '--logout'], 0],
  [['pair', 'ABCD-EFGH', '--yes'], 4],
];

describe.each(['127.0.0.1', '::1'])('an impostor at the default port of %s', (host) => {
  for (const [args, code, input] of COMMANDS)
    test(`receives nothing from parlance ${args.join(' ')}`, async () => {
      await using impostor = await impostorAt(host);
      const outcome = await runParlance(args, { cwd: place('nobody'), env: impostor.env, input });
      expect(outcome).toMatchObject({ code });
      expect(impostor.received()).toEqual(NOTHING);
    });

  test('receives no token of the environment, and no agent is started instead', async () => {
    await using impostor = await impostorAt(host);
    const env = { ...impostor.env, PARLANCE_TOKEN: 'plk_secret' };
    const { code, stderr } = await runParlance(['chat', '-p', 'x'], { cwd: place('token'), env });
    expect([code, stderr]).toEqual([
      4,
      `parlance: what listens at ${impostor.url} is not known to be a server of yours: to use it, name it with --url\n`,
    ]);
    expect(impostor.received()).toEqual(NOTHING);
  });

  test('is used if the user names it', async () => {
    await using impostor = await impostorAt(host);
    await runParlance(['chat', '-p', 'x', '--url', impostor.url], { cwd: home });
    expect(impostor.received().bytes).toContain('GET /v1/server');
  });
});

describe('a server of this user', () => {
  const AUTH = { PARLANCE_AUTH: 'required' };

  test('is used from any folder, by its port, and with a login that is stored for it', async () => {
    const cwd = place('own');
    const env = { HOME: home };
    await using server = await startProcess(cwd, { ...AUTH, ...env });
    const { port } = new URL(server.http);
    const elsewhere = { cwd: place('elsewhere'), env: { ...env, PORT: port } };
    expect(await runParlance(['chat', '-p', 'x'], elsewhere)).toMatchObject({
      code: 4,
      stderr: 'parlance: sign-in is required: run parlance login\n',
    });
    const login = await runParlance(['login', '--user', 'dev'], { ...elsewhere, input: 'dev-password\n' });
    expect(login).toMatchObject({ code: 0, stdout: expect.stringContaining(`signed in at ${server.http}`) });
    expect((await runParlance(['chat', '-p', 'count to 3'], elsewhere)).stdout).toBe('1 2 3\n');
    expect((await runParlance(['sessions'], elsewhere)).stdout).toContain('count to 3');
    expect((await runParlance(['open', '--print'], elsewhere)).stdout).toBe(`${server.http}/\n`);
    expect((await runParlance(['doctor', '--no-model'], elsewhere)).stdout).toContain('as dev (developer)');
    expect((await runParlance(['pair', 'NONE-NONE'], elsewhere)).stderr).not.toContain('no server of yours');

    // Its address is free now: the key of the login is not sent there.
    await server.terminate();
    await using impostor = await impostorAt('127.0.0.1', { port: Number(port) });
    for (const [args, , input] of COMMANDS) await runParlance(args, { ...elsewhere, input });
    expect(impostor.received()).toEqual(NOTHING);
  });

  test('that was killed is not confused with what listens at its address', async () => {
    const cwd = place('killed');
    const server = await startProcess(cwd, { HOME: home });
    const record = join(cwd, 'data/server.json');
    const { url } = JSON.parse(readFileSync(record, 'utf8'));
    await server.kill();
    // The process id is that of a live process again.
    writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), pid: process.pid }));
    await using impostor = await impostorAt('127.0.0.1', { port: Number(new URL(url).port) });
    const options = { cwd, env: { HOME: home, PARLANCE_DATA: join(cwd, 'data') } };
    expect((await runParlance(['chat', '-p', 'count to 2'], options)).stdout).toBe('1 2\n');
    expect(impostor.received()).toEqual(NOTHING);
  });

  test('is not reached through a program that relays to it', async () => {
    const cwd = place('relayed');
    await using server = await startProcess(cwd, { HOME: home });
    await using relay = await impostorAt('127.0.0.1', { relayTo: server.http });
    const named = { HOME: home, PARLANCE_DATA: join(cwd, 'data'), ...relay.env };
    expect((await runParlance(['chat', '-p', 'count to 3'], { cwd, env: named })).stdout).toBe('1 2 3\n');
    expect((await runParlance(['sessions'], { cwd, env: named })).stdout).toContain('count to 3');
    const env = { HOME: home, ...relay.env };
    await runParlance(['chat', '-p', 'secret plans'], { cwd: place('relayed-elsewhere'), env });
    expect(relay.received()).toEqual(NOTHING);
    expect((await runParlance(['sessions'], { cwd, env: named })).stdout).not.toContain('secret plans');
  });

  test('has a socket that only its user can open, also in a folder with a long name', async () => {
    const cwd = place('long'.repeat(30));
    await using server = await startProcess(cwd, { HOME: home });
    const socket = join(cwd, 'data/parlance.sock');
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, 'data')).mode & 0o777).toBe(0o700);
    const env = { HOME: home, PARLANCE_DATA: join(cwd, 'data'), PORT: '9' };
    expect((await runParlance(['open', '--print'], { cwd, env })).stdout).toBe(`${server.http}/\n`);
    await server.terminate();
    expect(existsSync(socket)).toBeFalse();
  });
});

describe('a server that runs elsewhere, such as in a container', () => {
  test('is used without its URL after a login that named it', async () => {
    const cwd = place('container');
    await using server = await startProcess(cwd, { PARLANCE_AUTH: 'required', HOME: cwd });
    const { port } = new URL(server.http);
    const options = { cwd: place('host'), env: { HOME: place('host'), PORT: port } };
    const before = await runParlance(['login', '--user', 'dev'], { ...options, input: 'dev-password\n' });
    expect(before).toMatchObject({ code: 4, stderr: expect.stringContaining('name one with --url') });
    const args = ['login', '--user', 'dev', '--url', server.http];
    expect((await runParlance(args, { ...options, input: 'dev-password\n' })).code).toBe(0);
    expect((await runParlance(['chat', '-p', 'count to 3'], options)).stdout).toBe('1 2 3\n');
    expect((await runParlance(['sessions'], options)).stdout).toContain('count to 3');
    expect((await runParlance(['login', '--logout'], options)).stdout).toBe(`signed out at ${server.http}\n`);
  });
});
