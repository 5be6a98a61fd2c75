/** Transactions per turn, as counted by PostgreSQL. */
import { SQL } from 'bun';
import type { Lane } from '../contestants/contestant.ts';
import { nativeLane, startParlance } from '../contestants/parlance.ts';
import { sleep } from '../measure/clock.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import type { Engines } from './cluster-engines.ts';

const TURNS = 1_000;
/** An idle connection reports its statistics after 10 seconds. */
const REPORTED_MS = 11_000;

export async function transactionsPerTurn(
  { database, observer }: Engines,
  settings: Record<string, string>,
): Promise<{ perTurn: number; withCall: number }> {
  using folder = temporaryFolder();
  const node = await startParlance(folder.path, {
    PROVIDER: 'offline',
    PARLANCE_OFFLINE_DELAY: '0',
    ...settings,
  });
  await using sql = new SQL(observer, { max: 1 });
  const name = new URL(database).pathname.slice(1);
  const count = async (): Promise<number> => {
    await sleep(REPORTED_MS);
    const [row] = await sql`SELECT xact_commit FROM pg_stat_database WHERE datname = ${name}`;
    return Number(row.xact_commit);
  };
  /** Transactions in that time without any turn: heartbeats and sweeps. */
  const idle = async (): Promise<number> => {
    const [before, began] = [await count(), performance.now()];
    const after = await count();
    return (after - before) / (performance.now() - began);
  };
  const perTurnOf = async (lane: Lane, atRest: number): Promise<number> => {
    const [before, began] = [await count(), performance.now()];
    for (let turn = 0; turn < TURNS; turn++) await lane.ask(() => undefined);
    const after = await count();
    return (after - before - atRest * (performance.now() - began)) / TURNS;
  };
  try {
    const [simple, calling] = [await nativeLane(node.http), await callingLane(node.http)];
    const atRest = await idle();
    const perTurn = await perTurnOf(simple, atRest);
    return { perTurn, withCall: await perTurnOf(calling, atRest) };
  } finally {
    await node.stop();
  }
}

/** The offline model calls a tool, and then answers. */
const callingLane = (http: string): Promise<Lane> => nativeLane(http, http, 'echo something');
