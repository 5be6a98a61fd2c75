/** Host and Origin on every listener, for every method and socket, as raw bytes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIALECTS } from '../../packages/server/src/dialects/index.ts';
import { socketRoutes } from '../../packages/server/src/dialects/kit/dialect.ts';
import { DIALECT_NAMES } from '../../packages/server/src/dialects/names.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { startProcess } from '../server-process.ts';
import {
  ALLOWED,
  type Caller,
  hostCallers,
  type Lines,
  originCallers,
  UNKNOWN_EXTENSION,
} from './callers.ts';
import { type RawAnswer, sendRaw } from './raw-http.ts';

type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Lines;
  readonly body?: string;
  /** response to an accepted caller */
  readonly status: number;
};

const JSON_BODY: Lines = [['Content-Type', 'application/json']];
const ID = '0b9f7e8a-3c55-4b66-9a51-3f1a6f0d2c11';

const REQUESTS: readonly Request[] = [
  { method: 'GET', path: '/health', status: 200 },
  { method: 'GET', path: '/v1/sessions', status: 200 },
  { method: 'HEAD', path: '/health', status: 200 },
  { method: 'POST', path: '/v1/auth/login', headers: JSON_BODY, body: '{}', status: 422 },
  { method: 'PUT', path: '/v1/sessions/any', headers: JSON_BODY, body: '{}', status: 405 },
  { method: 'PATCH', path: `/api/session/${ID}`, headers: JSON_BODY, body: '{"title":"x"}', status: 401 },
  { method: 'DELETE', path: '/v1/sessions/any/grants/any', status: 404 },
  {
    method: 'OPTIONS',
    path: '/v1/sessions',
    headers: [['Access-Control-Request-Method', 'POST']],
    status: 204,
  },
];

const HANDSHAKE: Lines = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ['Sec-WebSocket-Version', '13'],
];
const socketAt = (path: string): Request => ({ method: 'GET', path, headers: HANDSHAKE, status: 101 });
const CHANNELS = '/app/app-key?protocol=7';

const SOCKETS: Readonly<Record<string, readonly Request[]>> = {
  all: ['/', '/ws', '/ws?token=x', '/extension', '/broadcast', '/agentloop', '/conversations', CHANNELS].map(
    socketAt,
  ),
  pusher: [socketAt(CHANNELS)],
};
/** The listener of a dialect with sockets serves them at every path. */
const socketsOf = (listener: string): readonly Request[] =>
  SOCKETS[listener] ?? (hasSockets(listener) ? [socketAt('/'), socketAt('/ws')] : []);
const hasSockets = (listener: string): boolean =>
  DIALECTS.some(({ name, listen }) => name === listener && socketRoutes(listen).length > 0);

let server: TestServer;
const listeners: { dialect: string; port: number }[] = [];
beforeAll(async () => {
  server = await startTestServer({
    PARLANCE_LISTEN: DIALECT_NAMES.map((dialect) => `${dialect}=0`).join(','),
    ALLOWED_ORIGINS: ALLOWED.join(','),
  });
  listeners.push({ dialect: 'all', port: server.running.port }, ...server.running.listeners);
});
afterAll(() => server.stop());

const ask = (
  port: number,
  { method, path, headers = [], body }: Request,
  caller: Caller,
): Promise<RawAnswer> =>
  sendRaw(port, {
    line: `${method} ${caller.authority ?? ''}${path} HTTP/${caller.version ?? '1.1'}`,
    headers: [...caller.headers, ...headers],
    body,
  });

/** What is wrong with the response; null if it matches the verdict. */
function complaint(caller: Caller, request: Request, { status, headers, body }: RawAnswer): string | null {
  const shared = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
  const allowed = headers.get('access-control-allow-origin');
  const origin = caller.headers.find(([name]) => name === 'Origin')?.[1];
  // Health checks over HTTP/1.0 need no Host.
  const isProbe = request.path === '/health' && caller.version === '1.0' && caller.headers.length === 0;
  if (caller.verdict === 'out' && !isProbe) {
    // Bun's HTTP server refuses a request that is not valid HTTP and closes the connection.
    if (status !== 403 && status !== 400) return `was answered with ${status}`;
    if (status === 400 && body !== '') return `was answered with ${body}`;
    return shared.length > 0 ? `was given ${shared}` : null;
  }
  // HTTP/1.0 has no upgrade.
  const expected = caller.version === '1.0' && request.status === 101 ? [101, 400, 426] : [request.status];
  if (!expected.includes(status)) return `was answered with ${status} ${body.slice(0, 200)}`;
  if (status === 101) return null;
  return allowed === origin ? null : `may be read by ${allowed}`;
}

const preflightHeaders = (answer: RawAnswer) => answer.headers.get('access-control-allow-methods');

describe.each(['all', ...DIALECT_NAMES])('the listener %s', (dialect) => {
  const portOf = () => listeners.find((listener) => listener.dialect === dialect)?.port ?? 0;

  for (const [subject, callers] of [
    ['Host', hostCallers],
    ['Origin', originCallers],
  ] as const)
    test(`decides every ${subject} as in the table, for every target`, async () => {
      const port = portOf();
      const wrong: string[] = [];
      for (const caller of callers(port))
        await Promise.all(
          [...REQUESTS, ...socketsOf(dialect)].map(async (request) => {
            const complained = complaint(caller, request, await ask(port, request, caller));
            if (complained) wrong.push(`${request.method} ${request.path}, ${caller.what}: ${complained}`);
          }),
        );
      expect(wrong).toEqual([]);
    });

  test('answers a preflight only for allowed origins', async () => {
    const port = portOf();
    const preflight = REQUESTS.find(({ method }) => method === 'OPTIONS');
    if (!preflight) throw new Error('there is no preflight in the table');
    for (const caller of originCallers(port)) {
      const answer = await ask(port, preflight, caller);
      expect([caller.what, preflightHeaders(answer) !== undefined]).toEqual([
        caller.what,
        caller.verdict === 'in',
      ]);
    }
  });
});

test('a refused command changes nothing, even one that a page may send without a preflight', async () => {
  const { port } = server.running;
  const command = {
    method: 'POST',
    path: '/v1/sessions/intruder/commands',
    headers: [['Content-Type', 'text/plain']] as Lines,
    body: '{"type":"session.create"}',
    status: 200,
  };
  for (const caller of [...hostCallers(port), ...originCallers(port)])
    if (caller.verdict === 'out') await ask(port, command, caller);
  expect((await fetch(`${server.http}/v1/sessions/intruder`)).status).toBe(404);
  const [own] = originCallers(port);
  if (own) expect((await ask(port, command, own)).status).toBe(200);
  expect((await fetch(`${server.http}/v1/sessions/intruder`)).status).toBe(200);
});

test.each(['evil.example:80', '127.0.0.1:80', '[::1]:80', 'evil', '*', '%', '//evil.example', 'http://['])(
  'CONNECT and TRACE of %s are refused',
  async (target) => {
    const headers: Lines = [['Host', `127.0.0.1:${server.running.port}`]];
    for (const method of ['CONNECT', 'TRACE', 'BREW']) {
      const { status } = await sendRaw(server.running.port, {
        line: `${method} ${target} HTTP/1.1`,
        headers,
      });
      expect([0, 400, 404, 405]).toContain(status);
    }
    expect((await fetch(`${server.http}/health`)).status).toBe(200);
  },
);

test('the log explains once how to allow a refused extension, and that setting works', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-listeners-'));
  await using process = await startProcess(folder, { LOG_LEVEL: 'info', PARLANCE_LISTEN: 'agentloop=0' });
  const { port } = new URL(process.http);
  const headers: Lines = [
    ['Host', `127.0.0.1:${port}`],
    ['Origin', UNKNOWN_EXTENSION],
  ];
  for (const more of [[], HANDSHAKE, [], HANDSHAKE]) {
    const answer = await sendRaw(Number(port), { line: 'GET / HTTP/1.1', headers: [...headers, ...more] });
    expect(answer.status).toBe(403);
  }
  await process.kill();
  const lines = (await process.stderr()).split('\n').filter((line) => line.includes(UNKNOWN_EXTENSION));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(
    `allow it in the console (Admin → Origins) or with --origin ${UNKNOWN_EXTENSION}`,
  );

  await using allowed = await startProcess(folder, { ALLOWED_ORIGINS: UNKNOWN_EXTENSION });
  const own: Lines = [['Host', new URL(allowed.http).host], ...headers.slice(1)];
  const answer = await sendRaw(Number(new URL(allowed.http).port), {
    line: 'GET /health HTTP/1.1',
    headers: own,
  });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
    200,
    UNKNOWN_EXTENSION,
  ]);
});
