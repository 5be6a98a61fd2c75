/**
 * What a server adds to a request whose model answers at once. Sequential requests in alternating rounds, then a fixed rate, then as many
 * as 32 connections take.
 */
import { Absent } from '../contestants/contestant.ts';
import { GATEWAYS, type Gateway, type GatewayApi, type RunningGateway } from '../contestants/gateways.ts';
import { Asker } from '../measure/asker.ts';
import { median, percentile } from '../measure/percentile.ts';
import { cpuMicros, treeOf } from '../measure/process-tree.ts';
import { isQuiet, type Played, playRound, quietestOf } from '../measure/quiet-rounds.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { atOnce, atRate } from './pace.ts';
import type { Figures, Job, Outcome, Progress, Row, Table } from './table.ts';

const TOKENS = 10;
const REQUESTS = 25;
const CONNECTIONS = 32;
const RATE = 100;

const WORDS = 'Tell me something.';
const MESSAGES = [{ role: 'user', content: WORDS }];
const BODIES: Record<GatewayApi, object> = {
  chat: { model: 'bench', messages: MESSAGES },
  responses: { model: 'bench', input: WORDS },
  unstored: { model: 'bench', input: WORDS, store: false },
  messages: { model: 'bench', max_tokens: 1_000, messages: MESSAGES },
};

type Subject = { readonly gateway: Gateway; readonly api: GatewayApi; readonly streamed: boolean };

const SUBJECTS = new Map<string, Subject>(
  GATEWAYS.flatMap((gateway) =>
    (Object.keys(gateway.paths) as GatewayApi[]).flatMap((api) =>
      [false, true].map((streamed): [string, Subject] => [
        `${gateway.name}: ${api}${streamed ? ', streamed' : ''}`,
        { gateway, api, streamed },
      ]),
    ),
  ),
);

export const gateway: Table = {
  name: 'gateway',
  title: `Requests to a model that answers at once with ${TOKENS} tokens: ${REQUESTS} sequential requests a round`,
  unit: 'requests',
  columns: [
    { key: 'p50', title: 'p50 ms', digits: 2 },
    { key: 'added', title: 'added ms', digits: 2 },
    { key: 'timesBare', title: '× bare', digits: 2 },
    { key: 'timesDurable', title: '× bare durable', digits: 2 },
    { key: 'p99', title: 'p99 ms', digits: 2 },
    { key: 'firstText', title: 'first text ms', digits: 2 },
    { key: 'cpuPerRequest', title: 'CPU ms/request', digits: 2 },
    { key: 'rateP50', title: `p50 ms at ${RATE}/s`, digits: 2 },
    { key: 'rateP99', title: `p99 ms at ${RATE}/s`, digits: 2 },
    { key: 'requestsPerSecond', title: `requests/s, ${CONNECTIONS} connections` },
    { key: 'stolen', title: 'host took %', digits: 1 },
  ],
  jobs: () => [...SUBJECTS.keys()].map((subject) => ({ subject, size: REQUESTS })),
  async measure(job, progress) {
    const [outcome] = await measureTogether([job], progress);
    if (!outcome?.figures) throw new Absent(outcome?.absent ?? 'no outcome');
    return outcome.figures;
  },
  together: { takes: () => true, measure: measureTogether },
  derive: (rows) => rows.map((row) => withRatios(row, rows)),
};

/** What the server adds, and the time that a request takes as a multiple of both bare gateways. */
function withRatios(row: Row, rows: readonly Row[]): Row {
  const { figures, subject } = row;
  if (!figures) return row;
  const streamed = SUBJECTS.get(subject)?.streamed;
  const p50Of = (name: string) =>
    Number(
      rows.find((other) => other.subject === `${name}: chat${streamed ? ', streamed' : ''}`)?.figures?.p50,
    );
  const p50 = Number(figures.p50);
  const added = p50 - p50Of('direct');
  const timesBare = p50 / p50Of('bare gateway');
  const timesDurable = p50 / p50Of('bare durable gateway');
  return { ...row, figures: { ...figures, added, timesBare, timesDurable } };
}

type Round = {
  readonly times: readonly number[];
  readonly firstTexts: readonly number[];
  readonly cpu: number;
};

class Entrant {
  readonly rounds: Played<Round>[] = [];
  readonly #asker: Asker;
  readonly #path: string;
  readonly #body: string;

  constructor(
    readonly name: string,
    readonly server: RunningGateway,
    { gateway: { paths }, api, streamed }: Subject,
  ) {
    this.#asker = new Asker(new URL(server.url), server.headers);
    this.#path = paths[api] ?? '';
    this.#body = JSON.stringify({ ...BODIES[api], ...(streamed && { stream: true }) });
  }

  ask = () => this.#asker.ask('POST', this.#path, this.#body);

  async round(): Promise<Round> {
    const { pid } = this.server;
    const tree = pid === null ? [] : treeOf(pid);
    const before = cpuMicros(tree);
    const times: number[] = [];
    const firstTexts: number[] = [];
    for (let request = 0; request < REQUESTS; request++) {
      const sentAt = performance.now();
      const { endedAt, firstTextAt } = await this.ask();
      times.push(endedAt - sentAt);
      firstTexts.push(firstTextAt - sentAt);
    }
    return { times, firstTexts, cpu: cpuMicros(tree) - before };
  }

  async figures(rounds: number, ms: number): Promise<Figures> {
    const { quietest, stolen } = quietestOf(this.rounds, rounds);
    const paced = await atRate(this.ask, RATE, ms);
    const full = await atOnce(this.ask, CONNECTIONS, ms);
    const { pid } = this.server;
    return {
      p50: median(quietest.map(({ times }) => median(times))),
      p99: percentile(
        quietest.flatMap(({ times }) => times),
        0.99,
      ),
      firstText: median(quietest.flatMap(({ firstTexts }) => firstTexts)),
      cpuPerRequest: pid === null ? null : median(quietest.map(({ cpu }) => cpu / REQUESTS / 1_000)),
      rateP50: median(paced.times),
      rateP99: percentile(paced.times, 0.99),
      requestsPerSecond: full.rate,
      stolen,
    };
  }

  close(): void {
    this.#asker.close();
  }
}

/** All servers run at the same time, and each one plays a round before any plays the next. */
async function measureTogether(jobs: readonly Job[], progress: Progress): Promise<Outcome[]> {
  const { quick } = jobs[0] as Job;
  const plan = quick
    ? { rounds: 1, most: 1, warmUps: 1, ms: 500 }
    : { rounds: 7, most: 20, warmUps: 8, ms: 3_000 };
  using folders = new DisposableStack();
  const upstream = await startUpstream(TOKENS, 0);
  const started: (Entrant | Outcome)[] = [];
  const servers = new Map<string, Promise<RunningGateway>>();
  const entrantOf = async ({ subject, checkout }: Job): Promise<Entrant | Outcome> => {
    const found = SUBJECTS.get(subject);
    if (!found) throw new Error(`there is no gateway ${subject}`);
    const key = `${found.gateway.name} ${checkout}`;
    const server =
      servers.get(key) ?? found.gateway.start(upstream.url, folders.use(temporaryFolder()).path, checkout);
    servers.set(key, server);
    try {
      const entrant = new Entrant(subject, await server, found);
      for (let round = 0; round < plan.warmUps; round++) await entrant.round();
      return entrant;
    } catch (thrown) {
      return {
        figures: null,
        absent: thrown instanceof Absent ? thrown.message : `failed: ${String(thrown)}`,
      };
    }
  };
  try {
    for (const job of jobs) {
      progress(`starting ${job.subject}`);
      started.push(await entrantOf(job));
    }
    const entrants = started.filter((one) => one instanceof Entrant);
    const enough = () => entrants.every(({ rounds }) => rounds.filter(isQuiet).length >= plan.rounds);
    for (let round = 0; round < plan.most && !enough(); round++)
      for (let turn = 0; turn < entrants.length; turn++) {
        const entrant = entrants[(round + turn) % entrants.length] as Entrant;
        progress(`round ${round + 1} of ${plan.rounds}: ${entrant.name}`);
        entrant.rounds.push(await playRound(() => entrant.round()));
      }
    const outcomes: Outcome[] = [];
    for (const one of started) {
      if (one instanceof Entrant) progress(`${one.name} at a fixed rate, then ${CONNECTIONS} connections`);
      outcomes.push(
        one instanceof Entrant ? { figures: await one.figures(plan.rounds, plan.ms), absent: null } : one,
      );
    }
    return outcomes;
  } finally {
    for (const one of started) if (one instanceof Entrant) one.close();
    for (const server of servers.values()) await (await server.catch(() => null))?.stop();
    await upstream.stop();
  }
}
