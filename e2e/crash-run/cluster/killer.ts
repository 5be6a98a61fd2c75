/** Lets faults happen on several nodes at times that the seed determines, and repairs them. */
import type { Killing } from '../killer.ts';
import { MOMENTS, type Moments } from '../moments.ts';
import { kindOf, type Parts, type Target } from './faults.ts';

/** Timeout of a moment. */
const PATIENCE_MS = 500;
/** The probability that the next fault follows while nodes still take over sessions. */
const TWICE = 0.2;

/** Resolves with false if the nodes do not recover. */
export async function killingCluster(
  parts: Parts & { readonly moments: Moments; readonly calmMs: number },
  { kills, until, targets }: Killing & { readonly targets: readonly Target[] },
): Promise<boolean> {
  const { lives, faults, moments, random, calmMs } = parts;
  const repairs = new Map<string, Promise<void>>();
  const [first = 'node', ...others] = targets.flatMap((target) =>
    Array<Target>(kindOf(target).share).fill(target),
  );
  for (let count = 0; count < kills && performance.now() < until; count++) {
    if (!(await faults.recovered())) return false;
    const isCalm = faults.faults.at(-1)?.interrupts === 'nothing';
    if (!random.chance(TWICE) && !isCalm) await Bun.sleep(calmMs);
    if (random.chance(0.5)) await moments.next(random.pick(MOMENTS), PATIENCE_MS);
    await Bun.sleep(random.between(0, 100));
    const target = random.pick([first, ...others]);
    const { part = target, happen } = kindOf(target);
    await repairs.get(part);
    // One node always remains.
    while (lives.count < 2) await Bun.sleep(10);
    const repair = (await happen(parts))();
    const repaired = repair.then((fault) => {
      fault.until = Date.now();
    });
    // A failed repair becomes visible to the clients.
    repairs.set(
      part,
      repaired.catch((thrown) => parts.onError(`repair of ${target}: ${thrown}`)),
    );
  }
  const recovered = await faults.recovered();
  await Promise.all(repairs.values());
  return recovered;
}
