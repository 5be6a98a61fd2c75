/** Events between two nodes over Valkey or Redis: cost for sender and receiver, and delay. */
import { encodeBatch, encodeItem, Signatures } from '../../packages/server/src/cluster/envelope.ts';
import type { Transport } from '../../packages/server/src/cluster/transport.ts';
import { ValkeyPubSub } from '../../packages/server/src/cluster/valkey/pub-sub.ts';
import { openValkeyTransport } from '../../packages/server/src/cluster/valkey/transport.ts';
import { redisProgram, startRedis } from '../../packages/server/src/testing/engines/redis.ts';
import { Absent } from '../contestants/contestant.ts';
import { nowMicros, sleep } from '../measure/clock.ts';
import { benchNode, ownCpuMicros } from './bus-node.ts';
import { across, type Table } from './table.ts';

/** Batches are sent 5 ms after their first event. */
const INTERVAL_MS = 7;
const WAIT_MS = 60_000;
/** Number of messages in flight. */
const IN_FLIGHT = 64;

const PACED = `a message every ${INTERVAL_MS} ms`;
const FULL = 'as many as it takes';

export const bus: Table = {
  name: 'bus',
  title: 'Text deltas between two nodes over Valkey',
  unit: 'in a message',
  columns: [
    { key: 'sent', title: 'CPU µs/event sent', digits: 2 },
    { key: 'received', title: 'CPU µs/event received', digits: 2 },
    { key: 'p50', title: 'delay p50 ms', digits: 1 },
    { key: 'p99', title: 'delay p99 ms', digits: 1 },
  ],
  jobs: () => across([PACED, FULL], [1, 10, 50]),
  async measure({ subject, size, quick }, progress) {
    if (!redisProgram) throw new Absent('neither valkey-server nor redis-server is installed');
    const engine = await startRedis();
    const command = [process.execPath, `${import.meta.dir}/bus-receiver.ts`, engine.url];
    const receiver = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' });
    const transport = await openValkeyTransport(benchNode('sender', engine.url));
    try {
      const receivers = transport.registry.follow(['receivers']);
      while (receivers.nodes.length === 0) await sleep(10);
      const ask = (kind: string) => transport.request('receiver', { kind, body: null }, WAIT_MS);
      const messages = (quick ? 200 : 2_000) * (subject === FULL ? 10 : 1);
      const send = subject === FULL ? await fullSpeed(engine.url) : paced(transport, receivers.nodes);
      progress('warming up');
      await send(size, messages / 5);
      const waiting = subject === FULL ? 0 : await cpuOf(() => send(0, messages));
      await ask('begin');
      progress(`${messages} messages of ${size}`);
      const sent = (await cpuOf(() => send(size, messages))) - waiting;
      const { received, p50, p99 } = (await ask('end')) as Record<string, number>;
      return { sent: sent / messages / size, received: received ?? null, p50: p50 ?? null, p99: p99 ?? null };
    } finally {
      await transport.close();
      receiver.kill();
      await engine.stop();
    }
  },
};

/** Sends messages with this many events. */
type Send = (events: number, messages: number) => Promise<void>;

const paced =
  (transport: Transport, to: readonly string[]): Send =>
  async (events, messages) => {
    for (let message = 0; message < messages; message++) {
      for (let event = 0; event < events; event++) transport.send(to, delta(event));
      await sleep(INTERVAL_MS);
    }
  };

/** Without the transport's timer, which would put more events into a message. */
async function fullSpeed(url: string): Promise<Send> {
  const connected = Promise.withResolvers<void>();
  const api = new ValkeyPubSub({ url }, ['bench', 'bench:full'], {
    connected: connected.resolve,
    disconnected: (reason) => {
      throw new Error(reason);
    },
    received: () => undefined,
  });
  await connected.promise;
  let number = 0;
  const place = { channel: 'parlance:bench:receiver', signatures: new Signatures('bench', 'bench') };
  return async (events, messages) => {
    let publishing: Promise<number>[] = [];
    for (let message = 0; message < messages; message++) {
      const items = Array.from({ length: events }, (_, event) => encodeItem(delta(event)));
      const stamp = { from: 'full speed', generation: 1, number: ++number, at: Math.ceil(api.now()) };
      publishing.push(api.publish(place.channel, encodeBatch(stamp, items, place)));
      if (publishing.length < IN_FLIGHT) continue;
      await Promise.all(publishing);
      publishing = [];
    }
    await Promise.all(publishing);
  };
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = ownCpuMicros();
  await work();
  return ownCpuMicros() - before;
}

const delta = (event: number) => ({
  kind: 'live',
  body: {
    session: '["local","session-1"]',
    epoch: 12,
    seq: 1_234,
    offset: 20 * event,
    event: {
      type: 'text.delta',
      turn: '01JABCDEFGHJKMNPQRSTVWXYZ0',
      block: '01JABCDEFGHJKMNPQRSTVWXYZ1',
      text: `${event} word `,
      id: '01JABCDEFGHJKMNPQRSTVWXYZ2',
      at: nowMicros(),
    },
  },
});
