/** All clients of a run. */
import { type ClientKind, talking, type World } from './client.ts';
import { agentloop } from './clients/agentloop.ts';
import { broadcast } from './clients/broadcast.ts';
import { conversations } from './clients/conversations.ts';
import { copilot } from './clients/copilot.ts';
import { extension } from './clients/extension.ts';
import { nativeTalking } from './clients/native.ts';
import { probing } from './clients/probe.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import { approvalScene } from './scenes/approval.ts';
import { browserScene } from './scenes/browser.ts';
import { compactionScene } from './scenes/compaction.ts';

const KINDS: readonly ClientKind[] = [extension, broadcast, agentloop, conversations, copilot];
const FINISH_MS = 10_000;

export type Talkers = ReadonlyMap<string, Promise<void>>;

/** One client of each kind, and `more` of those that only send messages. */
export function startTalkers(world: World, random: Random, more = 0): Talkers {
  const talkers = new Map([
    ...KINDS.map((kind) => [kind.dialect, talking(kind, world, random.branch(kind.dialect))] as const),
    ['native', nativeTalking(world, random.branch('native'))],
    ['probe', probing(world)],
    ['approval', approvalScene(world, random.branch('approval'))],
    ['browser', browserScene(world, random.branch('browser'))],
    ['compaction', compactionScene(world, random.branch('compaction'))],
  ]);
  for (let copy = 2; copy < more + 2; copy++) {
    for (const kind of KINDS) {
      const name = `${kind.dialect} ${copy}`;
      talkers.set(name, talking(kind, world, random.branch(name)));
    }
    const name = `native-${copy}`;
    talkers.set(name, nativeTalking(world, random.branch(name), name));
  }
  return talkers;
}

/** Waits for every client; one that does not finish is stuck, which is a violation. */
export async function finished(clients: Talkers, ledger: Ledger): Promise<void> {
  await Promise.all(
    [...clients].map(async ([name, work]) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        ledger.trouble(name, 'never received its answer');
        resolve();
      }, FINISH_MS);
      await Promise.race([work, promise]).finally(() => clearTimeout(timer));
    }),
  );
}
