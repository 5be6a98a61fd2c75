/**
 * One run: clients of every dialect send messages, the server is killed repeatedly, and the result is checked.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../packages/server/src/testing/until.ts';
import { login } from '../server-process.ts';
import { collect } from './afterwards.ts';
import { check, type Violation } from './checker.ts';
import type { RunContext } from './client.ts';
import type { Evidence, Sent } from './evidence.ts';
import { FaultLog, recoveriesOf } from './fault-log.ts';
import { History } from './history.ts';
import { checkHistory } from './history-checker.ts';
import { killing } from './killer.ts';
import { Ledger } from './ledger.ts';
import { Moments } from './moments.ts';
import { seeded } from './random.ts';
import { finished, startClients } from './run-clients.ts';
import { Victim } from './victim.ts';
import { prepareFolder } from './working-folder.ts';

export type Options = {
  readonly seed: number;
  readonly kills: number;
  readonly seconds: number;
  /** the file for the history */
  readonly history?: string | undefined;
  /** called at once with each client error without a kill; these are also violations in the end */
  readonly onError?: (what: string) => void;
};

/** Measured times of one kind in milliseconds, and the goal for their 95th percentile. */
export type Times = { readonly what: string; readonly values: readonly number[]; readonly under?: number };

export type Outcome = {
  readonly faults: FaultLog;
  readonly times: readonly Times[];
  readonly evidence: Evidence;
  readonly violations: readonly Violation[];
};

/** Revoked keys are used again after restarts: they must be refused as such, not limited. */
export const MANY_KEYS = { PARLANCE_LOGIN_ATTEMPTS: '10000' };

const MAX_RECOVERY_MS = 1_000;
/** Time reserved for the clients to finish, and for the check. */
export const AFTERWARDS_MS = 20_000;

const isAcknowledged = ({ acknowledged }: Sent): boolean => acknowledged;
const dialectsIn = (all: readonly { readonly dialect: string }[]): number =>
  new Set(all.map(({ dialect }) => dialect)).size;

export async function run({
  seed,
  kills,
  seconds,
  history: path,
  onError = () => undefined,
}: Options): Promise<Outcome> {
  const end = performance.now() + Math.max(seconds * 1_000 - AFTERWARDS_MS, seconds * 300);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-crash-run-'));
  prepareFolder(folder);
  const random = seeded(seed);
  const victim = new Victim(folder, { PARLANCE_OFFLINE_DELAY: '1', ...MANY_KEYS });
  const moments = new Moments();
  const faults = new FaultLog();
  const history = new History({ history: 1, seed, nodes: 1 }, path);
  const onAcknowledged = () => {
    victim.acknowledged();
    faults.acknowledged();
  };
  const ledger = new Ledger(history, moments, { onAcknowledged, onError });
  // Also if the run itself is stopped: a remaining server would never exit.
  const cleanUp = () => {
    void victim.end();
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', cleanUp);
  try {
    victim.start();
    const { server } = await victim.up();
    const token = await login(server, 'dev', 'dev-password');
    const run: RunContext = { victim, ledger, token, stopping: false };
    const clients = startClients(run, random);
    const recovered = await killing(
      { victim, faults, moments, random: random.branch('killer') },
      { kills, until: end },
    );
    if (!recovered) ledger.recordError('server', 'no longer acknowledges messages');
    // All kills can come before a client on a slow machine has sent its first message.
    else
      await until(() => dialectsIn(ledger.conversations) === dialectsIn(ledger.sent.filter(isAcknowledged)));
    run.stopping = true;
    await finished(clients, ledger);
    const life = await victim.up();
    const evidence = await collect(life.server, { token, folder, ledger });
    return {
      faults,
      times: [
        {
          what: 'until the first acknowledged message',
          values: recoveriesOf(faults.faults),
          under: MAX_RECOVERY_MS,
        },
        { what: 'of it, until the server listens', values: victim.starts },
      ],
      evidence,
      violations: [...check(evidence), ...checkHistory(history.operations)],
    };
  } finally {
    await victim.end();
    process.off('exit', cleanUp);
    rmSync(folder, { recursive: true, force: true });
  }
}
