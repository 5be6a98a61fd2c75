/** Durable events, SQLite with synchronous FULL: throughput, and time until acknowledgement. */
import { join } from 'node:path';
import {
  type DurableEvent,
  type InputId,
  PrincipalId,
  SessionId,
  textPart,
} from '../../packages/protocol/src/index.ts';
import { openSqliteStore } from '../../packages/server/src/stores/sqlite/open.ts';
import { openaiAt, startParlance } from '../contestants/parlance.ts';
import { Asker } from '../measure/asker.ts';
import { percentile } from '../measure/percentile.ts';
import { quietRounds, type RoundCount } from '../measure/quiet-rounds.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { atOnce, atRate, type Send } from './pace.ts';
import type { Progress, Table } from './table.ts';

const SESSIONS = 200;
const WRITERS = 64;

export const append: Table = {
  name: 'append',
  title: `Acknowledged messages (SQLite, synchronous FULL), over ${SESSIONS} sessions`,
  unit: 'a second',
  columns: [
    { key: 'rate', title: 'acknowledged/s' },
    { key: 'p50', title: 'p50 ms', digits: 2 },
    { key: 'p99', title: 'p99 ms', digits: 2 },
    { key: 'slowest', title: 'slowest ms', digits: 1 },
    { key: 'stolen', title: 'host took %', digits: 1 },
    { key: 'fullRate', title: `events/s, ${WRITERS} writers` },
  ],
  jobs: () => ['store', 'native HTTP'].map((subject) => ({ subject, size: 1_000 })),
  async measure({ subject, size, quick }, progress) {
    using folder = temporaryFolder();
    const rounds = quick ? { wanted: 1, most: 1, ms: 1_500 } : { wanted: 4, most: 20, ms: 2_500 };
    const measured: Measure = (send, begin) => measureSend(send, { begin, rate: size, ...rounds, progress });
    // Awaited here: the folder lives as long as this block.
    return await (subject === 'store' ? throughStore : overHttp)(folder.path, measured);
  },
};

/** Before each round. */
type Begin = () => Promise<unknown>;
type Plan = RoundCount & {
  readonly begin: Begin;
  readonly rate: number;
  readonly ms: number;
  readonly progress: Progress;
};

async function measureSend(send: Send, { begin, rate, wanted, most, ms, progress }: Plan) {
  progress('warming up');
  await begin();
  await atRate(send, rate, ms);
  const { quietest, stolen } = await quietRounds({ wanted, most }, async (round) => {
    await begin();
    progress(`${rate} a second for ${ms / 1_000} s, ${round} of ${wanted}`);
    return await atRate(send, rate, ms);
  });
  const times = quietest.flatMap((paced) => paced.times);
  await begin();
  progress(`as many as it takes from ${WRITERS} writers`);
  const full = await atOnce(send, WRITERS, ms * 2);
  return {
    rate: quietest.reduce((sum, paced) => sum + paced.rate, 0) / quietest.length,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    slowest: percentile(times, 1),
    stolen,
    fullRate: full.rate,
  };
}

type Measure = (send: Send, begin: Begin) => ReturnType<typeof measureSend>;

async function throughStore(folder: string, measured: Measure) {
  const store = openSqliteStore(join(folder, 'data'));
  const owner = PrincipalId.parse('local');
  const sessions = Array.from({ length: SESSIONS }, (_, index) => ({
    ref: { owner, id: SessionId.parse(`session-${index}`) },
    head: 0,
    tail: Promise.resolve() as Promise<unknown>,
  }));
  const write = async (session: (typeof sessions)[number]) => {
    const at = Date.now();
    const event: DurableEvent = {
      type: 'input.accepted',
      input: crypto.randomUUID() as string as InputId,
      parts: [textPart('A message of ordinary length, as people write them to an agent.')],
      dialect: 'native',
      session: session.ref.id,
      id: crypto.randomUUID(),
      at,
      seq: session.head + 1,
    };
    await store.append(session.head, [event], {
      ref: session.ref,
      dialect: 'native',
      domain: 'general',
      agent: 'coder',
      title: 'A session',
      renamed: false,
      firstInput: '',
      status: 'idle',
      pending: null,
      archived: false,
      ephemeral: false,
      parent: null,
      pinned: false,
      tags: [],
      labels: {},
      messageCount: session.head + 1,
      createdAt: at,
      updatedAt: at,
      head: session.head + 1,
      checkpoint: null,
    });
    session.head++;
  };
  let next = 0;
  const figures = await measured(
    () => {
      const session = sessions[next++ % SESSIONS] as (typeof sessions)[number];
      // One append of a session at a time, like the server.
      const done = session.tail.then(() => write(session));
      session.tail = done;
      return done;
    },
    async () => undefined,
  );
  await store.close();
  return figures;
}

/** Messages to sessions with a running turn are queued: this measures accepting them, not answering them. */
async function overHttp(folder: string, measured: Measure) {
  const upstream = await startUpstream(1_000, 1_000);
  const server = await startParlance(folder, openaiAt(upstream.url));
  const command = JSON.stringify({
    type: 'input.submit',
    parts: [{ type: 'text', text: 'A message of ordinary length, as people write them to an agent.' }],
  });
  const asker = new Asker(new URL(server.http));
  const ofSession = (session: number) => `/v1/sessions/session-${session}`;
  const send = (session: number) => asker.ask('POST', `${ofSession(session)}/commands`, command);
  /** Uses new sessions, so that queued messages do not pile up from round to round. */
  let begun = false;
  const begin = async () => {
    for (let session = 0; session < SESSIONS; session++) {
      if (begun) await asker.ask('DELETE', ofSession(session));
      await send(session);
    }
    begun = true;
  };
  try {
    let next = 0;
    return await measured(() => send(next++ % SESSIONS), begin);
  } finally {
    asker.close();
    await server.stop();
    await upstream.stop();
  }
}
