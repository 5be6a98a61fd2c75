/** Clients without a token that withhold messages: their cost, and that others can still connect and chat. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { slowness } from '../../packages/server/src/testing/until.ts';
import { postJson, type ServerProcess, startProcess } from '../server-process.ts';
import { type Shape, type Unfinished, unfinishedFrame } from './unfinished-frame.ts';

const PUSHER = '/app/app-key?protocol=7';
const PEERS = 300;
const FRAME_BYTES = 1_048_575;
/** The limit from docs/guides/limits.md with default settings, plus the cost of connections and requests. */
const MAX_MEGABYTES = 64 + 16 + 32;

/** Clients of a slow machine are not identified within the default. */
const patient = () => ({ PARLANCE_IDENTIFY_WITHIN: String(Math.round(10_000 * slowness())) });

const MESSAGE = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] };

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function serve(settings: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-unfinished-'));
  const server = await startProcess(folder, { PARLANCE_AUTH: 'required', ...settings });
  stops.push(() => rmSync(folder, { recursive: true, force: true }), server.kill);
  return server;
}

const login = async ({ http }: ServerProcess): Promise<string> => {
  const user = { username: 'dev', password: 'dev-password' };
  return String((await postJson(`${http}/v1/auth/login`, user)).body.access_token);
};

const megabytes = ({ pid }: ServerProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Replaces every closed peer with another one, until it is stopped. */
function attack(server: ServerProcess, path: string, shape: Shape) {
  const peers = new Set<Unfinished>();
  let isOver = false;
  stops.push(() => {
    isOver = true;
    for (const peer of peers) peer.end();
  });
  async function keepOne(from: string): Promise<void> {
    while (!isOver) {
      const peer = unfinishedFrame(server.http, { path, bytes: FRAME_BYTES, shape, from });
      peers.add(peer);
      await peer.gone;
      peers.delete(peer);
      await Bun.sleep(100);
    }
  }
  for (let index = 0; index < PEERS; index++) void keepOne(`192.0.2.${index % 4}`);
}

/** An extension client, with its token in the first frame. */
async function extensionChat(server: ServerProcess, token: string): Promise<void> {
  const client = await server.connect('/extension');
  client.send({ type: 'client_registration', capabilities: [], sessionToken: token });
  await client.next('registration_confirmed');
  client.send({ type: 'chat_message', content: 'Hello.', sessionId: 'extension' });
  await client.next('agent_response');
  client.close();
}

/** A client with its token in the upgrade request. */
async function agentloopChat(server: ServerProcess, token: string): Promise<void> {
  const client = await server.connect(`/agentloop?token=${token}`);
  client.send({ id: 'a', type: 'user_input', payload: { input: [MESSAGE] } });
  await client.next('agent_finished');
  client.close();
}

describe.each<[string, Shape]>([
  ['/extension', 'one frame'],
  [PUSHER, 'one frame'],
  [PUSHER, 'fragments'],
  [PUSHER, 'fragments and a close frame'],
])(`${PEERS} clients without a token at %s withhold a message (%s)`, (path, shape) => {
  test.skipIf(process.platform !== 'linux')(
    'memory stays within the budget, and clients of every kind connect and chat',
    async () => {
      const server = await serve({ PARLANCE_TRUSTED_PROXIES: '1' });
      const token = await login(server);
      await extensionChat(server, token);
      const before = megabytes(server);
      attack(server, path, shape);
      let most = 0;
      for (let round = 0; round < 15; round++) {
        await Bun.sleep(200);
        most = Math.max(most, megabytes(server) - before);
      }
      await extensionChat(server, token);
      await agentloopChat(server, token);
      expect(
        (await postJson(`${server.http}/v1/auth/login`, { username: 'dev', password: 'x' })).status,
      ).toBe(401);
      most = Math.max(most, megabytes(server) - before);
      expect(most).toBeLessThan(MAX_MEGABYTES);
    },
  );
});

describe('300 legitimate clients that connect at once are all accepted', () => {
  test('extension clients', async () => {
    const server = await serve(patient());
    const token = await login(server);
    await Promise.all(
      Array.from({ length: PEERS }, async () => {
        const client = await server.connect('/extension');
        client.send({ type: 'client_registration', capabilities: [], sessionToken: token });
        await client.next('registration_confirmed');
        stops.push(() => client.close());
      }),
    );
  });

  test('pusher clients', async () => {
    const server = await serve(patient());
    const headers = { authorization: `Bearer ${await login(server)}` };
    const channel = 'private-user-dev';
    await Promise.all(
      Array.from({ length: PEERS }, async () => {
        const client = await server.connect(PUSHER);
        const greeting = await client.next(({ event }) => event === 'pusher:connection_established');
        const { socket_id } = JSON.parse(String(greeting.data)) as { socket_id: string };
        const asked = { socket_id, channel_name: channel };
        const { body } = await postJson(`${server.http}/api/pusher/auth`, asked, headers);
        client.send({ event: 'pusher:subscribe', data: { channel, ...body } });
        await client.next(({ event }) => event === 'pusher_internal:subscription_succeeded');
        stops.push(() => client.close());
      }),
    );
  });
});

test('a pusher client without a token stays on a public channel', async () => {
  const server = await serve({ PARLANCE_IDENTIFY_WITHIN: String(Math.round(200 * slowness())) });
  const client = await server.connect(PUSHER);
  client.send({ event: 'pusher:subscribe', data: { channel: 'news' } });
  await client.next(({ event }) => event === 'pusher_internal:subscription_succeeded');
  const silent = await server.connect('/extension');
  expect((await silent.closed).code).toBe(1008);
  client.send({ event: 'pusher:ping', data: {} });
  await client.next(({ event }) => event === 'pusher:pong');
});
