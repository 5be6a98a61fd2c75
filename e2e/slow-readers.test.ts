/**
 * Clients of every stream that start a turn with a large answer and never read. What they cost is the size of the server's heap
 * and of its send buffers; it is bounded, and returns when they leave. Their turns end, with nothing lost.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { APPLICATION, signedCall } from '../packages/server/src/testing/pusher.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { STREAMS } from './event-streams.ts';
import { type RawReader, rawReader } from './raw-reader.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { durableOf, getJson, login, postJson, type ServerProcess, startProcess } from './server-process.ts';

const READERS = 2;
const ANSWER = Array.from({ length: 5_000 }, (_, index) => `${index}${'.'.repeat(1_600)}`).join(' ');
const MB = 1_000_000;

const folder = mkdtempSync(join(tmpdir(), 'parlance-slow-'));
const probe = join(folder, 'heap');
let model: ScriptedModel;
let server: ServerProcess;
let token: string;

beforeAll(async () => {
  model = scriptedModel(() => ({ say: ANSWER }));
  server = await startProcess(folder, {
    PROVIDER: 'openai',
    MODEL: 'fake',
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: model.url,
    CONTEXT_LIMIT: '100000000',
    PARLANCE_ANSWER_CHARACTERS: '100000000',
    // Sessions that nobody uses are not what is measured.
    PARLANCE_CACHED_CHARACTERS: '0',
    BUN_OPTIONS: `--preload ${join(import.meta.dir, 'heap-probe.ts')}`,
    HEAP_PROBE: probe,
  });
  token = await login(server, 'dev', 'dev-password');
});
afterAll(async () => {
  await server?.kill();
  model?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The size of the heap in bytes, after sessions that nobody uses were dropped and garbage was collected. */
async function emptied(): Promise<number> {
  for (const id of ['one', 'two'])
    await postJson(
      `${server.http}/v1/sessions/${id}/commands`,
      { type: 'session.label', labels: { a: 'b' } },
      bearer(),
    );
  return Number(await (await fetch('http://heap/', { unix: probe })).text());
}

const bearer = () => ({ authorization: `Bearer ${token}` });

async function figure(name: string): Promise<number> {
  const lines = (await (await fetch(`${server.http}/metrics`)).text()).split('\n');
  return Number(
    lines
      .find((line) => line.startsWith(name))
      ?.split(' ')
      .at(-1) ?? 0,
  );
}

const turnsEnded = () => figure('parlance_turns_total{outcome="ended"}');

/** Resolves with the answer of the session that changed last. */
async function lastAnswer(): Promise<string> {
  const { sessions } = await getJson<{ sessions: { id: string }[] }>(
    `${server.http}/v1/sessions?limit=1&ephemeral=included`,
    bearer(),
  );
  const target = { http: server.http, headers: bearer() };
  const events: DurableEvent[] = await durableOf(target, sessions[0]?.id ?? '');
  return events.map((event) => (event.type === 'text.ended' ? event.text : '')).join('');
}

/** Sends a request and does not read the response. */
function request(
  path: string,
  body: object | undefined,
  headers: Readonly<Record<string, string>> = {},
): Socket {
  const { hostname, port, host } = new URL(server.http);
  const text = body ? JSON.stringify(body) : '';
  const all = { host, ...bearer(), ...(body && { 'content-type': 'application/json' }), ...headers };
  const head = Object.entries({ ...all, 'content-length': Buffer.byteLength(text) });
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write(
    `${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${head.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${text}`,
  );
  return socket;
}

/** Starts a turn with frames on a socket that is not read any more. */
async function socket(path: string, ...frames: object[]): Promise<RawReader> {
  const reader = await rawReader(server.http, `${path}&token=${token}`);
  // The frames before the last are answered first: a session, a registration.
  for (const frame of frames.slice(0, -1)) {
    const { length } = reader.texts;
    reader.send(frame);
    await until(() => reader.texts.length > length);
  }
  reader.stopReading();
  reader.send(frames.at(-1) ?? {});
  return reader;
}

type Left = { end(): void };
/** Opens a reader that starts a turn and never reads. */
const OPENED: Record<string, (id: string) => Left | Promise<Left>> = {};

for (const [index, { dialect, path, body, headers }] of STREAMS.entries()) {
  if (!body) continue;
  OPENED[`${dialect} ${path} ${index}`] = (id) => {
    // A conversation of its own for each.
    const own = JSON.stringify(body)
      .replace('"id":"chat"', `"id":"${id}"`)
      .replace('"threadId":"run"', `"threadId":"${id}"`)
      .replace('"messageId":"m1"', `"messageId":"${id}"`);
    const reader = request(path, JSON.parse(own), headers);
    return { end: () => reader.destroy() };
  };
}

/** Follows a session, stops reading, and starts a turn with another request. */
const watching =
  (open: (id: string) => Promise<RawReader>) =>
  async (id: string): Promise<RawReader> => {
    const commands = `${server.http}/v1/sessions/${id}/commands`;
    await postJson(commands, { type: 'session.create' }, bearer());
    const reader = await open(id);
    reader.stopReading();
    const parts = [{ type: 'text', text: 'Tell me' }];
    await postJson(commands, { type: 'input.submit', parts }, bearer());
    return reader;
  };

OPENED['native events'] = watching((id) =>
  rawReader(server.http, `/v1/sessions/${id}/events?token=${token}`, 'text/event-stream'),
);
// A socket continues what earlier sockets of its user did not read, and may be closed before it is read.
OPENED.conversations = watching((id) => rawReader(server.http, `/ws?session=${id}&token=${token}`));
OPENED.broadcast = (id) =>
  socket(`/broadcast?session=${id}`, { type: 'chat', message: 'Tell me', session_id: id });
OPENED.agentloop = (id) =>
  socket(`/agentloop?session=${id}`, {
    id: 'm1',
    type: 'user_input',
    payload: {
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Tell me' }] }],
    },
  });
OPENED.extension = (id) => {
  const message = (type: string, more: object) => ({
    id: `msg_1_${type}`,
    type,
    timestamp: Date.now(),
    ...more,
  });
  return socket(
    `/?session=${id}`,
    message('client_registration', {
      clientType: 'browser_extension',
      capabilities: [],
      sessionToken: token,
    }),
    message('chat_message', { content: 'Tell me', sessionId: id }),
  );
};
OPENED.acp = async () => {
  const reader = await rawReader(server.http, `/acp?token=${token}`);
  const call = (number: number, method: string, params: object) =>
    reader.send({ jsonrpc: '2.0', id: number, method, params });
  call(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
  call(2, 'session/new', { cwd: folder, mcpServers: [] });
  const created = JSON.parse(await reader.until((text) => JSON.parse(text).id === 2));
  reader.stopReading();
  const { sessionId } = created.result;
  call(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Tell me' }] });
  return reader;
};

/** An idle session stays in memory for a reader that is connected: here the whole answer is one frame, which is in flight. */
const IN_FLIGHT = new Set(['extension', 'broadcast']);

describe('readers that never read', () => {
  for (const [name, open] of Object.entries(OPENED)) {
    test(`${name}: cost less than a megabyte each, lose nothing, and leave nothing behind`, async () => {
      const started = await turnsEnded();
      const warm = await open(`warm-${crypto.randomUUID()}`);
      await until(async () => (await turnsEnded()) > started);
      warm.end();
      const before = await emptied();
      const readers: Left[] = [];
      for (let count = 0; count < READERS; count++) readers.push(await open(`slow-${crypto.randomUUID()}`));
      await until(async () => (await turnsEnded()) > started + READERS);
      expect((await lastAnswer()) === ANSWER).toBeTrue();
      const each = ((await emptied()) - before) / READERS;
      expect(each).toBeLessThan(MB + (IN_FLIGHT.has(name) ? ANSWER.length : 0));
      for (const reader of readers) reader.end();
      await until(async () => (await emptied()) - before < ANSWER.length / 2);
    });
  }

  test('pusher: are disconnected, and cost less than a megabyte each', async () => {
    const before = await emptied();
    const readers = await Promise.all(
      Array.from({ length: READERS }, () =>
        socket('/app/app-key?protocol=7', { event: 'pusher:subscribe', data: { channel: 'news' } }),
      ),
    );
    const news = { channel: 'news', name: 'news', data: 'x'.repeat(10_000) };
    const batch = JSON.stringify({ batch: Array.from({ length: 10 }, () => news) });
    const closed = () => figure('parlance_slow_readers_closed_total{dialect="pusher"}');
    while ((await closed()) < READERS) {
      const sent = await signedCall(
        server.http,
        { application: APPLICATION },
        { method: 'POST', path: '/apps/app-id/batch_events', body: batch },
      );
      expect(sent.status).toBe(200);
    }
    expect(((await emptied()) - before) / READERS).toBeLessThan(MB);
    for (const reader of readers) reader.end();
    await until(async () => (await emptied()) - before < ANSWER.length / 2);
  });
});
