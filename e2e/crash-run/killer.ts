/** Kills at moments that the seed decides on, and starts again. */
import { MOMENTS, type Moment, type Moments } from './moments.ts';
import type { Random } from './random.ts';
import type { Victim } from './victim.ts';

export type Aim = Moment | 'any' | 'start';
const AIMS = ['any', 'any', 'any', 'start', ...MOMENTS, ...MOMENTS] as const satisfies readonly Aim[];

export type Killing = {
  readonly kills: number;
  /** no kill after this, by `performance.now` */
  readonly until: number;
};

/** A moment that does not come is not waited for much longer than this. */
const PATIENCE_MS = 900;
/** A server that acknowledges nothing for this long has not recovered. */
const DEAD_MS = 10_000;

/** How often each aim was hit. A moment that did not come in time is counted as `any`. */
export type Hits = Map<Aim, number>;

export async function killing(
  victim: Victim,
  moments: Moments,
  random: Random,
  { kills, until }: Killing,
): Promise<Hits> {
  const hits: Hits = new Map();
  while (victim.kills < kills && performance.now() < until) {
    const aim = random.pick(AIMS);
    const hit = await reached(aim, victim, moments, random);
    await victim.kill();
    hits.set(hit, (hits.get(hit) ?? 0) + 1);
    victim.start();
  }
  if (!(await victim.recovered(DEAD_MS))) throw new Error('the server did not come back');
  return hits;
}

async function reached(aim: Aim, victim: Victim, moments: Moments, random: Random): Promise<Aim> {
  if (aim === 'start') {
    await Bun.sleep(random.between(10, 400));
    return aim;
  }
  if (!(await victim.recovered(DEAD_MS))) throw new Error('the server did not come back');
  if (aim === 'any') {
    await Bun.sleep(random.between(0, 500));
    return aim;
  }
  const came = await moments.next(aim, PATIENCE_MS);
  await Bun.sleep(random.between(0, 30));
  return came ? aim : 'any';
}
