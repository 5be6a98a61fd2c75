/** Start and stop of the engine. */
import type { SessionRecord } from '../ports/event-store.ts';
import { type EngineInternals, eachReadable } from './engine-internals.ts';

export type Lifecycle = ReturnType<typeof lifecycle>;

export function lifecycle({ parts, resolver, sessions, queue }: EngineInternals) {
  /** Sessions in which a turn is running: before `recover`, those that the end of the process interrupted. */
  const unfinished = (): Promise<SessionRecord[]> => Array.fromAsync(resolver.all({ status: ['running'] }));

  return {
    unfinished,

    /**
     * Claims and resumes every turn that was running when its process ended; returns how many there are. Pending
     * approvals stay pending.
     */
    async recover(): Promise<number> {
      const records = await unfinished();
      await eachReadable(records, parts.log, async ({ ref }) => {
        await sessions.use(ref, async (session) => {
          if (!queue.draining && (await parts.leases.claim(ref))) queue.wake(session);
        });
      });
      return records.length;
    },

    /**
     * Starts no more actions; resolves when the running ones are done, or with false after `graceMs`. The rest resumes
     * at the next start.
     */
    drain: (graceMs: number): Promise<boolean> => queue.drain(graceMs),
  };
}
