/** Starts and stops the engine, and takes over sessions from other nodes. */
import { asFault } from '@parlance/protocol';
import type { SessionRecord, SessionRef } from '../ports/event-store.ts';
import type { Lease } from '../ports/lease.ts';
import type { Session } from '../runtime/session.ts';
import { type EngineInternals, released } from './engine-internals.ts';

/** Maximum delay before a session that could not be read is tried again, in milliseconds. */
const MAX_RETRY_MS = 60_000;
const RETRY_MS = 1_000;

export function lifecycle(internals: EngineInternals) {
  const { parts, deps, resolver, sessions, queue, ephemeral, indexer, network } = internals;
  const { leases, log, cluster } = parts;
  let sweeping: ReturnType<typeof setInterval> | null = null;
  let sweep: Promise<unknown> | null = null;
  let fenced = false;

  const unfinished = async (): Promise<SessionRecord[]> => {
    const running = await Array.fromAsync(resolver.all({ status: ['running'] }));
    if (!cluster) return running;
    const living = await cluster.livingNodes();
    const drivers = await Promise.all(running.map(({ ref }) => leases.driverOf(ref)));
    return running.filter((_, index) => {
      const node = drivers[index]?.node;
      return node === undefined || node === leases.node || !living.has(node);
    });
  };

  /**
   * Logs a session that cannot be read and retries it later. Keeps its lease: other nodes could not read it
   * either.
   */
  const resume = async (lease: Lease, failures = 0): Promise<void> => {
    try {
      await sessions.use(lease.ref, async (session) => {
        await session.takeOver(lease);
        queue.wake(session);
      });
    } catch (thrown) {
      log.error({ err: thrown, session: lease.ref.id }, 'session unreadable');
      const again = () => leases.good(lease) && !queue.draining && resume(lease, failures + 1);
      const isOutage = asFault(thrown).code === 'storage_unavailable';
      setTimeout(again, isOutage ? RETRY_MS : Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures)).unref();
    }
  };

  /** Resumes sessions without a driver and returns their number. */
  const takeOver = async (limit: number): Promise<number> => {
    const taken = queue.draining ? [] : await leases.takeOver(limit);
    if (taken.length > 0) deps.meter.add('takeovers', undefined, taken.length);
    for (const lease of taken) {
      const resumed = resume(lease);
      // A session that hangs must not block the other sessions of a dead node.
      if (!cluster) await resumed;
    }
    return taken.length;
  };

  const sweepOnce = async (): Promise<void> => {
    if (!leases.healthy) return;
    if (fenced) queue.retry();
    fenced = false;
    const room = queue.room;
    if (room === 0) return;
    const resumed = await takeOver(room);
    if (resumed > 0) log.info({ resumed }, 'sessions taken over');
  };

  const notTakenOver = (err: unknown): number => {
    log.warn({ err }, 'failed to take over sessions');
    return 0;
  };

  const sweepNow = (): void => {
    sweep ??= sweepOnce()
      .catch(notTakenOver)
      .finally(() => {
        sweep = null;
      });
  };

  const deposeIfLost = (session: Session): void => {
    if (session.role.isDriver || !session.role.holdsLease) return;
    session.depose().catch((err) => log.warn({ err, session: session.ref.id }, 'failed to read session'));
  };

  const endLosses = leases.onLost((lost: readonly SessionRef[] | 'all') => {
    fenced ||= lost === 'all';
    if (lost === 'all') for (const session of sessions.all()) session.fence();
    else
      for (const ref of lost) {
        const session = sessions.loaded(ref);
        if (session) deposeIfLost(session);
      }
  });

  const endFailovers = cluster?.onFailover?.(() => {
    log.warn({}, 'database failed over: comparing sessions with it');
    for (const session of sessions.all())
      session
        .compareLast()
        .catch((err) => log.warn({ err, session: session.ref.id }, 'failed to read session'));
  });

  return {
    unfinished,

    async recover(): Promise<number> {
      if (cluster) {
        sweeping ??= setInterval(sweepNow, cluster.sweepMs);
        network?.onReleased(sweepNow);
      }
      const taking = takeOver(cluster ? queue.room : Number.POSITIVE_INFINITY);
      // With several nodes, the next sweep retries sessions that could not be read.
      const resumed = await (cluster ? taking.catch(notTakenOver) : taking);
      if (!queue.draining) await ephemeral.start();
      indexer?.start();
      return resumed;
    },

    async drain(graceMs: number): Promise<boolean> {
      if (sweeping) clearInterval(sweeping);
      await Promise.all([sweep, ephemeral.stop(), indexer?.stop()]);
      const finished = await queue.drain(graceMs);
      endLosses();
      endFailovers?.();
      await Promise.all([...sessions.all()].map((session) => released(session, log, true)));
      network?.released();
      return finished;
    },
  };
}
