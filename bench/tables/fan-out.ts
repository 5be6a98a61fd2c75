/** One answer to many subscribers: the server's cost per frame and subscriber. */
import { AnswerCheck, type Verdict } from '../measure/answer-check.ts';
import { percentile } from '../measure/percentile.ts';
import { watchTree } from '../measure/process-tree.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { across, type Table } from './table.ts';
import { WATCHED, type Watched } from './watched.ts';

const RATE = { tokens: 50, intervalMs: 20 };
const TOKEN = /\d+:\d{16} /g;
/** After this time a missing token counts as lost. */
const PATIENCE_MS = 30_000;

/** The watchers of one server; each answer is checked separately. */
class SubscriptionHub {
  #checks: AnswerCheck[] = [];
  #waiting = 0;
  #ended = Promise.withResolvers<void>();

  static async of(server: Watched, size: number): Promise<SubscriptionHub> {
    const audience = new SubscriptionHub();
    const watch = (index: number) => server.watch((frame, at) => audience.#receive(index, frame, at));
    for (let first = 0; first < size; first += 50)
      await Promise.all(Array.from({ length: Math.min(50, size - first) }, (_, next) => watch(first + next)));
    return audience;
  }

  #receive(index: number, frame: string, arrivedAt: number): void {
    for (const token of frame.match(TOKEN) ?? []) {
      this.#checks[index]?.receive(token, arrivedAt);
      if (--this.#waiting === 0) this.#ended.resolve();
    }
  }

  /** Resolves with the tokens that each watcher has received. */
  async answer(server: Watched, size: number, delays: number[]) {
    this.#checks = Array.from({ length: size }, () => new AnswerCheck(RATE.tokens, delays));
    this.#waiting = size * RATE.tokens;
    this.#ended = Promise.withResolvers();
    const timer = setTimeout(this.#ended.resolve, PATIENCE_MS);
    await server.answer();
    await this.#ended.promise;
    clearTimeout(timer);
    return this.#checks.map((check) => check.verdict());
  }
}

export const fanOut: Table = {
  name: 'fan-out',
  title: `One session, many watchers: ${RATE.tokens} tokens, one each ${RATE.intervalMs} ms`,
  unit: 'watchers',
  columns: [
    { key: 'cpuPerFrame', title: 'CPU µs/frame', digits: 2 },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'inOrder', title: 'all in order' },
  ],
  jobs: (quick) =>
    quick
      ? across(['plain ws broadcast', 'Parlance, agentloop', 'Parlance, pusher channel'], [1_000])
      : across(Object.keys(WATCHED), [1, 10, 100, 1_000]),
  async measure({ subject, size, quick }, progress) {
    const start = WATCHED[subject];
    if (!start) throw new Error(`there is no ${subject}`);
    using folder = temporaryFolder();
    const upstream = await startUpstream(RATE.tokens, RATE.intervalMs);
    try {
      const server = await start(upstream.url, folder.path, RATE);
      try {
        progress('connecting watchers');
        const audience = await SubscriptionHub.of(server, size);
        progress('warming up');
        for (let round = quick ? 1 : 2; round > 0; round--) await audience.answer(server, size, []);
        progress('measuring');
        const delays: number[] = [];
        const used = watchTree(server.pid);
        const verdicts: Verdict[] = [];
        for (let round = quick ? 1 : 3; round > 0; round--)
          verdicts.push(...(await audience.answer(server, size, delays)));
        const { cpuMicros, peakBytes } = used();
        const sum = (of: (verdict: Verdict) => number) =>
          verdicts.reduce((total, verdict) => total + of(verdict), 0);
        return {
          cpuPerFrame: cpuMicros / sum(({ received }) => received),
          p50: percentile(delays, 0.5) / 1_000,
          p99: percentile(delays, 0.99) / 1_000,
          megabytes: peakBytes / 1e6,
          missing: sum(({ missing }) => missing),
          misplaced: sum(({ misplaced }) => misplaced),
          inOrder: sum(({ missing, misplaced }) => missing + misplaced) === 0,
        };
      } finally {
        await server.stop();
      }
    } finally {
      await upstream.stop();
    }
  },
};
