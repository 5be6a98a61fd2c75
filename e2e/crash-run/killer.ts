/** Kills and restarts the server at times that the seed determines. */
import type { FaultLog } from './fault-log.ts';
import { MOMENTS, type Moment, type Moments } from './moments.ts';
import type { Random } from './random.ts';
import type { Victim } from './victim.ts';

export type Aim = Moment | 'any' | 'start';
const AIMS = ['any', 'any', 'any', 'start', ...MOMENTS, ...MOMENTS] as const satisfies readonly Aim[];

export type Killing = {
  readonly kills: number;
  /** no kill after this time of `performance.now` */
  readonly until: number;
};

/** Timeout of a moment. */
const PATIENCE_MS = 500;

type Targets = {
  readonly victim: Victim;
  readonly faults: FaultLog;
  readonly moments: Moments;
  readonly random: Random;
};

/** Resolves with false if the server does not recover. A moment that timed out counts as `any`. */
export async function killing(targets: Targets, { kills, until }: Killing): Promise<boolean> {
  const { victim, faults, random } = targets;
  while (victim.kills < kills && performance.now() < until) {
    const hit = await reached(random.pick(AIMS), targets);
    if (hit === null) return false;
    await victim.kill();
    faults.overtake();
    victim.start();
    faults.begin(hit === 'any' || hit === 'start' ? `kill (${hit})` : `kill during ${hit}`);
  }
  return victim.recovered();
}

/** Resolves at the time of the kill; null if the server does not recover before. */
async function reached(aim: Aim, { victim, moments, random }: Targets): Promise<Aim | null> {
  if (aim === 'start') {
    await Bun.sleep(random.between(10, 400));
    return aim;
  }
  if (!(await victim.recovered())) return null;
  if (aim === 'any') {
    await Bun.sleep(random.between(0, 350));
    return aim;
  }
  const came = await moments.next(aim, PATIENCE_MS);
  await Bun.sleep(random.between(0, 30));
  return came ? aim : 'any';
}
