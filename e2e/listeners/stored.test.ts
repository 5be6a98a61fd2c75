/** Extra listeners that admins add and remove while the server runs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Parlance } from '../../packages/sdk/src/index.ts';
import { TestClient } from '../../packages/server/src/testing/client.ts';
import { freePort } from '../../packages/server/src/testing/free-port.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { openStream, STREAMS } from '../event-streams.ts';
import { gatedModel } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-listeners-'));
const settings = { PARLANCE_DATA: join(folder, 'data'), PARLANCE_LISTEN: 'broadcast=0' };
let server: TestServer;
let ada: Parlance;

const signedIn = async (): Promise<Parlance> =>
  connect({ url: server.http, token: await server.login('ada', 'ada-password') });

beforeAll(async () => {
  server = await startTestServer(settings);
  ada = await signedIn();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function store(listeners: readonly string[]): Promise<void> {
  const { version } = await ada.admin.settings.read();
  await ada.admin.settings.change({ version, values: { listeners: [...listeners] } });
}

const listed = async () =>
  (await ada.admin.listeners()).map(({ dialect, port, problem }) => ({ dialect, port, problem }));

test('a listener is open when it is stored, is kept by a restart, and is closed when it is removed', async () => {
  const port = freePort();
  const before = await listed();
  await store([`agentloop=${port}`]);
  expect(await listed()).toEqual([...before, { dialect: 'agentloop', port, problem: null }]);
  const client = await TestClient.connect(`ws://127.0.0.1:${port}/any/path?token=${ada.token}`);
  const counts = (await ada.admin.listeners()).map(({ sockets }) => sockets);
  expect(counts).toEqual([{}, {}, { agentloop: 1 }]);

  await server.stop();
  server = await startTestServer(settings);
  ada = await signedIn();
  expect(await listed()).toContainEqual({ dialect: 'agentloop', port, problem: null });
  client.close();

  const again = await TestClient.connect(`ws://127.0.0.1:${port}/?token=${ada.token}`);
  await store([]);
  expect(await again.closed).toEqual({ code: 1001, reason: 'The listener was removed' });
  expect(await listed()).toHaveLength(2);
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
});

/** Opens a listener and reads from an endless stream of it. */
async function streaming(parlance: Parlance) {
  const port = freePort();
  const { version } = await parlance.admin.settings.read();
  await parlance.admin.settings.change({ version, values: { listeners: [`native=${port}`] } });
  const here = connect({ url: `http://127.0.0.1:${port}`, token: parlance.token });
  const response = await fetch(`http://127.0.0.1:${port}/v1/activity`, {
    headers: { authorization: `Bearer ${parlance.token}`, accept: 'text/event-stream' },
  });
  expect(response.status).toBe(200);
  return { here, rest: response.text() };
}

describe('a listener that is removed', () => {
  test('finishes its requests, also the one that removes it, and accepts no new ones', async () => {
    const model = gatedModel();
    const gated = await startTestServer({ ...model.settings, PARLANCE_GRACE: '600000' });
    const admin = connect({ url: gated.http, token: await gated.login('ada', 'ada-password') });
    const port = freePort();
    const listeners = (list: string[]) => ({
      version: list.length === 0 ? 1 : 0,
      values: { listeners: list },
    });
    await admin.admin.settings.change(listeners([`openai=${port}`]));
    const url = `http://127.0.0.1:${port}`;
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'parlance',
        stream: true,
        messages: [{ role: 'user', content: 'Go' }],
      }),
    });
    const there = connect({ url, token: admin.token });
    expect(await there.admin.settings.change(listeners([]))).toMatchObject({ stored: { listeners: [] } });
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    model.release();
    expect(await answer.text()).toContain('and whole.');
    await gated.stop();
    await model.stop();
  });

  test('ends its event streams in the words of their dialects, and their turns continue', async () => {
    const model = gatedModel();
    const gated = await startTestServer(model.settings);
    const { admin, token, sessions } = connect({
      url: gated.http,
      token: await gated.login('ada', 'ada-password'),
    });
    const dialects = [...new Set(STREAMS.map(({ dialect }) => dialect))];
    const ports = new Map<string, number>();
    for (const dialect of dialects) ports.set(dialect, await freePort());
    const listeners = [...ports].map(([dialect, port]) => `${dialect}=${port}`);
    await admin.settings.change({ version: 0, values: { listeners } });
    const opened = await Promise.all(
      STREAMS.map((one) => openStream(`http://127.0.0.1:${ports.get(one.dialect)}`, one, token)),
    );
    await admin.settings.change({ version: 1, values: { listeners: [] } });
    for (const [index, { ending }] of STREAMS.entries())
      expect(await opened[index]?.whole).toMatch(ending('The listener was removed'));

    model.release();
    const started = STREAMS.filter(({ body }) => body).length;
    const ended = await until(async () => {
      const { sessions: all } = await sessions.list();
      return all.every(({ status }) => status === 'idle') && all;
    });
    expect(ended).toHaveLength(started);
    for (const { id } of ended) {
      const events = await durableOf({ http: gated.http, headers: { authorization: `Bearer ${token}` } }, id);
      expect(events.map(({ type }) => type)).toContain('turn.ended');
    }
    await gated.stop();
    await model.stop();
  });

  test('does not delay the shutdown of the server', async () => {
    const slow = await startTestServer({ PARLANCE_GRACE: '600000' });
    const admin = connect({ url: slow.http, token: await slow.login('ada', 'ada-password') });
    const { rest } = await streaming(admin);
    await admin.admin.settings.change({ version: 1, values: { listeners: [] } });
    await slow.stop();
    expect(await rest).toStartWith('event: ready');
  });
});

test('a port in use is reported, and the other listeners stay open', async () => {
  const port = freePort();
  const { port: own } = server.running;
  await store([`agentloop=${port}`, `openai=${own}`]);
  expect(await listed()).toContainEqual({ dialect: 'openai', port: own, problem: 'The port is in use.' });
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  await store([`agentloop=${port}`]);
  expect((await listed()).every(({ problem }) => problem === null)).toBe(true);
  await store([]);
});

test('only admins change listeners, and only to dialects that exist', async () => {
  await expect(store(['nothing=8080'])).rejects.toMatchObject({ code: 'invalid' });
  const dev = connect({ url: server.http, token: await server.login('dev', 'dev-password') });
  const change = dev.admin.settings.change({ version: 0, values: { listeners: ['agentloop=8080'] } });
  await expect(change).rejects.toMatchObject({ code: 'forbidden' });
});
