/** Tests specific to a server in another process; see `contract/` for the rest. */
import { afterEach, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { RedisClient } from 'bun';
import { NO_METER } from '../../core/ports/telemetry.ts';
import { makeCertificate, openssl } from '../../testing/cluster/certificate.ts';
import { isDown, isUp, note, PATIENT, SILENT } from '../../testing/cluster/contract/network.ts';
import type { Engine } from '../../testing/engines/program.ts';
import { type RedisOptions, redisProgram, startRedis } from '../../testing/engines/redis.ts';
import { freePort } from '../../testing/free-port.ts';
import { until } from '../../testing/until.ts';
import type { Transport } from '../transport.ts';
import type { ValkeyServer } from './pub-sub.ts';
import { openValkeyTransport } from './transport.ts';

const engines: Engine[] = [];
const transports: Transport[] = [];
afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

async function start(options?: RedisOptions): Promise<Engine> {
  const engine = await startRedis(options);
  engines.push(engine);
  return engine;
}

async function open(server: ValkeyServer | string, node: string, log = SILENT): Promise<Transport> {
  const transport = await openValkeyTransport({
    server: typeof server === 'string' ? { url: server } : server,
    node,
    cluster: 'test',
    secret: 'secret',
    log,
    meter: NO_METER,
    timings: PATIENT,
  });
  transports.push(transport);
  return transport;
}

/** Resolves when a message has arrived. */
async function talks(from: Transport, to: Transport): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  const end = to.on('note', () => arrived.resolve());
  from.send([to.node], note('hello'));
  await arrived.promise;
  end();
}

/** Runs a command that nodes never send. */
async function command(engine: Engine, name: string, ...args: string[]): Promise<unknown> {
  const client = new RedisClient(engine.url);
  try {
    return await client.send(name, args);
  } finally {
    client.close();
  }
}

describe.skipIf(!redisProgram)('the valkey transport', () => {
  test('is down while the server is frozen, and up again afterwards', async () => {
    const engine = await start();
    const [ada, bob] = [await open(engine.url, 'ada'), await open(engine.url, 'bob')];
    await Promise.all([isUp(ada), isUp(bob)]);
    bob.registry.add('w:one');
    const followed = ada.registry.follow(['w:one']);
    await until(() => followed.nodes.length === 1);
    engine.pause();
    await Promise.all([isDown(ada), isDown(bob)]);
    engine.resume();
    await Promise.all([isUp(ada), isUp(bob)]);
    await talks(ada, bob);
    expect(followed.nodes).toEqual(['bob']);
  });

  test('closes while the server is frozen', async () => {
    const engine = await start();
    const ada = await open(engine.url, 'ada');
    await isUp(ada);
    ada.registry.add('w:one');
    engine.pause();
    await isDown(ada);
    await ada.close();
    engine.resume();
  });

  test('stays up after its own process was paused', async () => {
    const engine = await start();
    const ada = await open(engine.url, 'ada');
    await isUp(ada);
    let downs = 0;
    ada.onDown(() => downs++);
    for (const pause of [700, 1_200]) {
      Bun.sleepSync(pause);
      await Bun.sleep(100);
    }
    expect(downs).toBe(0);
  });

  for (const type of ['normal', 'pubsub']) {
    test(`reconnects after the server has closed its ${type} connection`, async () => {
      const engine = await start();
      const [ada, bob] = [await open(engine.url, 'ada'), await open(engine.url, 'bob')];
      await Promise.all([isUp(ada), isUp(bob)]);
      const downs = Promise.all([ada, bob].map((node) => new Promise<void>((down) => node.onDown(down))));
      await command(engine, 'CLIENT', 'KILL', 'TYPE', type);
      await downs;
      await Promise.all([isUp(ada), isUp(bob)]);
      await talks(ada, bob);
      await talks(bob, ada);
    });
  }

  test('notifies the others of lost messages when one node was cut off', async () => {
    const engine = await start();
    const [ada, bob] = [await open(engine.url, 'ada'), await open(engine.url, 'bob')];
    await Promise.all([isUp(ada), isUp(bob)]);
    await talks(ada, bob);
    const lost: string[] = [];
    bob.onLost((from) => lost.push(from));
    const [speaker] = String(await command(engine, 'CLIENT', 'LIST', 'TYPE', 'normal')).split('\n');
    const id = speaker?.match(/\bid=(\d+)/)?.[1] ?? '';
    await command(engine, 'CLIENT', 'KILL', 'ID', id);
    await isDown(ada);
    await isUp(ada);
    ada.broadcast(note('back'));
    await until(() => lost.length > 0);
    expect(lost).toEqual(['ada']);
  });

  test('reconnects after the server has disconnected it as a slow reader', async () => {
    const engine = await start({ args: ['--client-output-buffer-limit', 'pubsub 2mb 1mb 1'] });
    const [ada, bob] = [await open(engine.url, 'ada'), await open(engine.url, 'bob')];
    await Promise.all([isUp(ada), isUp(bob)]);
    const down = new Promise<void>((resolve) => bob.onDown(resolve));
    const flood = Bun.spawn([process.execPath, '-e', FLOOD, engine.url, 'parlance:test:bob'], {
      stdout: 'pipe',
    });
    // This process reads nothing while the other one writes.
    Bun.sleepSync(1_000);
    await Promise.all([down, flood.exited]);
    await Promise.all([isUp(ada), isUp(bob)]);
    await talks(ada, bob);
  });

  test('starts without a server, and connects when one is available', async () => {
    const engine = await start();
    await engine.kill();
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (_data: object, message: string) => void warnings.push(message) };
    const ada = await open(engine.url, 'ada', log);
    expect(ada.up).toBe(false);
    expect(warnings).toEqual(['bus unreachable']);
    await engine.restart();
    await isUp(ada);
  });

  test('starts while the server is frozen, and connects when it responds', async () => {
    const engine = await start();
    engine.pause();
    const ada = await open(engine.url, 'ada');
    expect(ada.up).toBe(false);
    engine.resume();
    await isUp(ada);
  });

  test('uses a password, and refuses to start with a wrong one', async () => {
    const engine = await start({ password: 'correct' });
    const [ada, bob] = [await open(engine.url, 'ada'), await open(engine.url, 'bob')];
    await Promise.all([isUp(ada), isUp(bob)]);
    await talks(ada, bob);
    const address = `127.0.0.1:${engine.port}`;
    for (const url of [
      `redis://:wrong@${address}`,
      `redis://nobody:correct@${address}`,
      `redis://${address}`,
    ]) {
      const failure = await open(url, 'eve').catch((thrown: unknown) => thrown);
      expect(failure).toBeInstanceOf(Error);
      expect(String(failure)).toMatch(/^Error: REDIS_URL: .*(WRONGPASS|NOAUTH)/);
      expect(String(failure)).not.toContain('correct');
    }
  });

  test('does not connect if publishing is not allowed', async () => {
    const engine = await start();
    await command(engine, 'ACL', 'SETUSER', 'default', 'resetchannels');
    const failure = await open(engine.url, 'ada').catch((thrown: unknown) => thrown);
    expect(String(failure)).toMatch(/^Error: REDIS_URL: .*NOPERM/);
  });

  test.skipIf(!openssl)('speaks TLS, and refuses to start with an unknown authority', async () => {
    const certificate = await makeCertificate();
    const engine = await start({ tls: certificate, password: 'correct' });
    const authority = await Bun.file(certificate.authority).text();
    const server = { url: engine.url, authority };
    const [ada, bob] = [await open(server, 'ada'), await open(server, 'bob')];
    await Promise.all([isUp(ada), isUp(bob)]);
    await talks(ada, bob);
    const failure = await open(engine.url, 'eve').catch((thrown: unknown) => thrown);
    expect(String(failure)).toStartWith('Error: REDIS_URL: ');
    await rm(certificate.folder, { recursive: true });
  });

  test('starts without a server that refuses connections', async () => {
    const ada = await open(`redis://127.0.0.1:${freePort()}`, 'ada');
    expect(ada.up).toBe(false);
  });
});

const FLOOD = `
  const [url, channel] = process.argv.slice(1);
  const client = new Bun.RedisClient(url);
  const text = 'x'.repeat(1_000_000);
  for (let sent = 0; sent < 40; sent++) await client.publish(channel, text);
  process.exit(0);
`;
