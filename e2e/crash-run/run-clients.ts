/** All clients of a run. */
import { within } from '../../packages/server/src/testing/until.ts';
import { type ClientKind, type RunContext, runClient } from './client.ts';
import { agentloop } from './clients/agentloop.ts';
import { broadcast } from './clients/broadcast.ts';
import { conversations } from './clients/conversations.ts';
import { copilot } from './clients/copilot.ts';
import { extension } from './clients/extension.ts';
import { nativeClient } from './clients/native.ts';
import { probing } from './clients/probe.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import { approvalScene } from './scenes/approval.ts';
import { browserScene } from './scenes/browser.ts';
import { compactionScene } from './scenes/compaction.ts';
import { credentialScene } from './scenes/credentials.ts';
import { rivalScene } from './scenes/rivals.ts';

const KINDS: readonly ClientKind[] = [extension, broadcast, agentloop, conversations, copilot];

export type RunningClients = ReadonlyMap<string, Promise<void>>;

/** One client of each kind, and `more` of those that only send messages. */
export function startClients(run: RunContext, random: Random, more = 0): RunningClients {
  const clients = new Map([
    ...KINDS.map((kind) => [kind.dialect, runClient(kind, run, random.branch(kind.dialect))] as const),
    ['native', nativeClient(run, random.branch('native'))],
    ['probe', probing(run)],
    ['approval', approvalScene(run, random.branch('approval'))],
    ['browser', browserScene(run, random.branch('browser'))],
    ['rivals', rivalScene(run)],
    ['credentials', credentialScene(run, random.branch('credentials'))],
    ['compaction', compactionScene(run, random.branch('compaction'))],
  ]);
  for (let copy = 2; copy < more + 2; copy++) {
    for (const kind of KINDS) {
      const name = `${kind.dialect} ${copy}`;
      clients.set(name, runClient(kind, run, random.branch(name)));
    }
    const name = `native-${copy}`;
    clients.set(name, nativeClient(run, random.branch(name), name));
  }
  return clients;
}

/** Waits for every client; one that does not finish is stuck, which is a violation. */
export async function finished(clients: RunningClients, ledger: Ledger): Promise<void> {
  await Promise.all(
    [...clients].map(async ([name, work]) => {
      await within(work, 'never received its answer').catch((thrown) => ledger.recordError(name, thrown));
    }),
  );
}
