/** One run: clients of every dialect talk, the server is killed repeatedly, and the result is checked. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postJson } from '../server-process.ts';
import { collect } from './afterwards.ts';
import { check, type Violation } from './checker.ts';
import { type ClientKind, talking, type World } from './client.ts';
import { agentloop } from './clients/agentloop.ts';
import { broadcast } from './clients/broadcast.ts';
import { conversations } from './clients/conversations.ts';
import { copilot } from './clients/copilot.ts';
import { extension } from './clients/extension.ts';
import { nativeTalking } from './clients/native.ts';
import { probing } from './clients/probe.ts';
import type { Evidence } from './evidence.ts';
import { type Hits, killing } from './killer.ts';
import { Ledger } from './ledger.ts';
import { ASKED_EFFECT, EFFECT } from './messages.ts';
import { Moments } from './moments.ts';
import { seeded } from './random.ts';
import { approvalScene } from './scenes/approval.ts';
import { browserScene } from './scenes/browser.ts';
import { compactionScene } from './scenes/compaction.ts';
import { Victim } from './victim.ts';

export type Options = {
  readonly seed: number;
  readonly kills: number;
  readonly seconds: number;
  /** receives client errors without a kill immediately; they are violations in the end, too */
  readonly onTrouble?: (what: string) => void;
};

export type Outcome = {
  readonly kills: number;
  readonly hits: Hits;
  readonly recoveries: readonly number[];
  readonly starts: readonly number[];
  readonly evidence: Evidence;
  readonly violations: readonly Violation[];
};

const KINDS: readonly ClientKind[] = [extension, broadcast, agentloop, conversations, copilot];
/** Time reserved for the clients to finish, and for the check. */
const AFTERWARDS_MS = 20_000;
const FINISH_MS = 10_000;

export async function run({ seed, kills, seconds, onTrouble = () => undefined }: Options): Promise<Outcome> {
  const until = performance.now() + Math.max(seconds * 1_000 - AFTERWARDS_MS, seconds * 300);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-crash-run-'));
  prepare(folder);
  const random = seeded(seed);
  const victim = new Victim(folder, { PARLANCE_OFFLINE_DELAY: '1' });
  const moments = new Moments();
  const ledger = new Ledger(moments, () => victim.acknowledged(), onTrouble);
  // Also if the run itself is stopped: a remaining server would never exit.
  const leaveNothing = () => {
    void victim.end();
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', leaveNothing);
  try {
    victim.start();
    const { server } = await victim.up();
    const login = { username: 'dev', password: 'dev-password' };
    const { body } = await postJson(`${server.http}/v1/auth/login`, login);
    const world: World = { victim, ledger, token: String(body.access_token), stopping: false };
    const clients = new Map([
      ...KINDS.map((kind) => [kind.dialect, talking(kind, world, random.branch(kind.dialect))] as const),
      ['native', nativeTalking(world, random.branch('native'))],
      ['probe', probing(world)],
      ['approval', approvalScene(world, random.branch('approval'))],
      ['browser', browserScene(world, random.branch('browser'))],
      ['compaction', compactionScene(world, random.branch('compaction'))],
    ]);
    const { hits, recovered } = await killing(
      { victim, moments, random: random.branch('killer') },
      { kills, until },
    );
    if (!recovered) ledger.trouble('server', 'acknowledged nothing any more');
    world.stopping = true;
    await finished(clients, ledger);
    const life = await victim.up();
    const evidence = await collect(life.server, { token: world.token, folder, ledger });
    return {
      kills: victim.kills,
      hits,
      recoveries: victim.recoveries,
      starts: victim.starts,
      evidence,
      violations: check(evidence),
    };
  } finally {
    await victim.end();
    process.off('exit', leaveNothing);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two programs with a slow side effect, one of which may run without approval. */
function prepare(folder: string): void {
  for (const name of [EFFECT, ASKED_EFFECT]) {
    const path = join(folder, name);
    writeFileSync(path, '#!/bin/sh\necho "$1" >> effects.txt\nsleep 0.2\n');
    chmodSync(path, 0o755);
  }
  const rules = [{ tool: 'shell', pattern: `${EFFECT} *`, decision: 'allow' }];
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/config.json'), JSON.stringify({ rules }));
}

/** Every client finishes; one that does not is stuck, which is a violation. */
async function finished(clients: ReadonlyMap<string, Promise<void>>, ledger: Ledger): Promise<void> {
  await Promise.all(
    [...clients].map(async ([name, work]) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        ledger.trouble(name, 'never had its answer');
        resolve();
      }, FINISH_MS);
      await Promise.race([work, promise]).finally(() => clearTimeout(timer));
    }),
  );
}
