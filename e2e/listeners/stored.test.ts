/** Extra listeners that admins add and remove while the server runs. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Parlance } from '../../packages/sdk/src/index.ts';
import { TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-listeners-'));
const settings = { PARLANCE_DATA: join(folder, 'data'), PARLANCE_DOORS: 'broadcast=0' };
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

/** A port that is free now. */
async function freePort(): Promise<number> {
  const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const { port = 0 } = taken;
  await taken.stop(true);
  return port;
}

async function store(doors: readonly string[]): Promise<void> {
  const { version } = await ada.admin.settings.read();
  await ada.admin.settings.change({ version, values: { doors: [...doors] } });
}

const listed = async () =>
  (await ada.admin.listeners()).map(({ dialect, port, problem }) => ({ dialect, port, problem }));

test('a listener is open when it is stored, is kept by a restart, and is closed when it is removed', async () => {
  const port = await freePort();
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
  await again.closed;
  expect(await listed()).toHaveLength(2);
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
});

test('a port in use is reported, and the other listeners stay open', async () => {
  const port = await freePort();
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
  const change = dev.admin.settings.change({ version: 0, values: { doors: ['agentloop=8080'] } });
  await expect(change).rejects.toMatchObject({ code: 'forbidden' });
});
