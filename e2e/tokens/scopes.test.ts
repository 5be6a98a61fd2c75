/** API keys on every socket and on both stdio bridges: only a valid key with the scope of the dialect is served. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { DIALECTS } from '../../packages/server/src/dialects/index.ts';
import { socketRoutes } from '../../packages/server/src/dialects/kit/dialect.ts';
import { TestClient } from '../../packages/server/src/testing/client.ts';
import { registration } from '../../packages/server/src/testing/extension.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { slowness, until, within } from '../../packages/server/src/testing/until.ts';
import { postJson } from '../server-process.ts';
import { bearer } from './live.ts';

type Key = { readonly id: string; readonly key: string };
type Way = {
  readonly dialect: string;
  /** Resolves with the connection, which may be closed already. */
  readonly open: (key: string) => Promise<TestClient>;
  /** a frame that is answered only to a principal, if opening is not answered itself */
  readonly ask: object | null;
  readonly isAnswer: (frame: Record<string, unknown>) => boolean;
};

const typed =
  (name: string) =>
  ({ type }: Record<string, unknown>) =>
    type === name;

/** A frame of each dialect with sockets that is answered to a principal, and its answer. */
const CHATS = {
  acp: {
    ask: { jsonrpc: '2.0', id: 1, method: 'session/list', params: {} },
    isAnswer: ({ result }: Record<string, unknown>) => result !== undefined,
  },
  agentloop: { ask: { type: 'nonsense' }, isAnswer: typed('error') },
  broadcast: { ask: { type: 'nonsense' }, isAnswer: typed('error') },
  conversations: { ask: { type: 'PING' }, isAnswer: typed('PONG') },
  extension: { ask: { type: 'ping' }, isAnswer: typed('pong') },
  openai: {
    ask: { type: 'response.create', model: 'parlance', input: 'Hello', generate: false },
    isAnswer: typed('response.completed'),
  },
};

describe.each(['open', 'required'])('in %s mode', (PARLANCE_AUTH) => {
  let server: TestServer;
  let dev: Record<string, string>;
  beforeAll(async () => {
    server = await startTestServer({
      PARLANCE_AUTH,
      PARLANCE_LISTEN: Object.keys(CHATS)
        .map((dialect) => `${dialect}=0`)
        .join(','),
      PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
      PARLANCE_LOGIN_ATTEMPTS: '1000',
    });
    dev = bearer(await server.login('dev', 'dev-password'));
  });
  afterAll(() => server.stop());

  async function newKey(dialects?: readonly string[], expiresAt?: string): Promise<Key> {
    const { status, body } = await postJson(
      `${server.http}/v1/keys`,
      { name: 'key', dialects, expiresAt },
      dev,
    );
    expect(status).toBe(201);
    return body as Key;
  }
  const revoke = ({ id }: Key) => fetch(`${server.http}/v1/keys/${id}`, { method: 'DELETE', headers: dev });

  const at = (dialect: keyof typeof CHATS, path: string): Way => ({
    dialect,
    ...CHATS[dialect],
    open: (key) => server.connect(`${path}?token=${key}`),
  });
  const onItsPort = (dialect: keyof typeof CHATS): Way => ({
    ...at(dialect, '/'),
    open(key) {
      const { port } = server.running.listeners.find((listener) => listener.dialect === dialect) ?? {};
      return TestClient.connect(`ws://127.0.0.1:${port}/?token=${key}`);
    },
  });
  const WAYS: Readonly<Record<string, Way>> = {
    '/acp': at('acp', '/acp'),
    '/agentloop': at('agentloop', '/agentloop'),
    '/broadcast': at('broadcast', '/broadcast'),
    '/conversations': at('conversations', '/conversations'),
    '/ws': at('conversations', '/ws'),
    '/extension': at('extension', '/extension'),
    '/': at('extension', '/'),
    '/extension, by a frame': {
      ...at('extension', '/extension'),
      async open(sessionToken) {
        const client = await server.connect('/extension');
        client.send(registration([], { sessionToken }));
        return client;
      },
      // The registration is answered; nothing has to be asked.
      ask: null,
      isAnswer: ({ type }) => type === 'registration_confirmed',
    },
    '/v1/responses': at('openai', '/v1/responses'),
    '/openai/v1/responses': at('openai', '/openai/v1/responses'),
    'the listener of acp': onItsPort('acp'),
    'the listener of agentloop': onItsPort('agentloop'),
    'the listener of broadcast': onItsPort('broadcast'),
    'the listener of conversations': onItsPort('conversations'),
    'the listener of extension': onItsPort('extension'),
  };

  test('every socket of every dialect is tried; those of pusher have no key but permits of their own', () => {
    const paths = DIALECTS.flatMap(({ name, listen }) =>
      name === 'pusher' ? [] : socketRoutes(listen).map(({ ws }) => ws),
    );
    expect(paths.filter((path) => !(path in WAYS))).toEqual([]);
  });

  /** Whether the socket answers, rather than being closed or refusing the frame. */
  async function isServed({ ask, isAnswer }: Way, client: TestClient): Promise<boolean> {
    const closed = client.closed.then(() => false);
    if (ask) client.send(ask);
    const answered = client.next((frame) => isAnswer(frame) || isRefusal(frame)).then(isAnswer, () => false);
    return within(Promise.race([closed, answered]), 'an answer or the end');
  }
  const isRefusal = ({ error, type, status }: Record<string, unknown>) =>
    (typeof error === 'object' && error !== null) || type === 'error' || status === 'error';

  for (const [name, way] of Object.entries(WAYS)) {
    const others = ['native', 'openai', 'broadcast', 'agentloop'].filter((other) => other !== way.dialect);

    test(`${name}: a key of its dialect is served until it is revoked, and not again`, async () => {
      const key = await newKey([way.dialect]);
      const client = await way.open(key.key);
      expect(await isServed(way, client)).toBeTrue();
      await revoke(key);
      expect(await client.closed).toMatchObject({ code: 1008, reason: 'The API key was revoked.' });
      expect(await isServed(way, await way.open(key.key))).toBeFalse();
    });

    test(`${name}: a key of other dialects and a forged one are refused`, async () => {
      expect(await isServed(way, await way.open((await newKey(others)).key))).toBeFalse();
      const { key } = await newKey([way.dialect]);
      expect(
        await isServed(way, await way.open(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)),
      ).toBeFalse();
    });
  }

  test('every socket ends when its key expires, and is not opened again', async () => {
    await Promise.all(
      Object.values(WAYS).map(async (way) => {
        const { key } = await newKey([way.dialect], new Date(Date.now() + 3_000 * slowness()).toISOString());
        const client = await way.open(key);
        expect(await client.closed).toMatchObject({ code: 1008, reason: 'The API key has expired.' });
        expect(await isServed(way, await way.open(key))).toBeFalse();
      }),
    );
  });

  const BRIDGES = {
    acp: [CHATS.acp.ask],
    mcp: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
    ],
  };
  test.each(Object.entries(BRIDGES))(
    'parlance %s: only a valid key of its dialect is served',
    async (name, lines) => {
      const isBridged = async (key: string) => {
        const { stdout } = await runParlance([name, '--url', server.http, '--token', key], {
          cwd: server.root,
          input: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
        });
        const answers = stdout
          .trim()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
        return answers.length > 0 && answers.every(({ result }) => result !== undefined);
      };
      const key = await newKey([name]);
      expect(await isBridged(key.key)).toBeTrue();
      await revoke(key);
      expect(await isBridged(key.key)).toBeFalse();
      expect(await isBridged((await newKey(['native'])).key)).toBeFalse();
      const short = await newKey([name], new Date(Date.now() + 1_000).toISOString());
      await until(async () => {
        const { status } = await fetch(`${server.http}/v1/auth/me`, { headers: bearer(short.key) });
        return status === 401;
      });
      expect(await isBridged(short.key)).toBeFalse();
    },
  );

  test('pusher: a key of other dialects gets no permit', async () => {
    const body = { socket_id: '1.1', channel_name: 'private-user-dev' };
    const statusOf = async ({ key }: Key) =>
      (
        await fetch(`${server.http}/api/pusher/auth`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...bearer(key) },
          body: JSON.stringify(body),
        })
      ).status;
    expect(await statusOf(await newKey(['broadcast']))).toBe(403);
    expect(await statusOf(await newKey(['pusher']))).not.toBe(403);
  });
});
