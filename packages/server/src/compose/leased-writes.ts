/** Readiness check for a node that shares a database: whether it can store events. */
import { Fault } from '@parlance/protocol';
import type { Leases } from '../core/ports/lease.ts';

export type LeasedStore = { readonly leases: Leases; readonly writable: () => Promise<void> };

const FENCED = 'This node currently cannot renew its lease in the database.';
const LATE = 'The database is currently not responding.';

/**
 * Rejects if the database does not accept a write within `withinMs`, and immediately if this node's lease is
 * invalid or ends: without it the node starts no work, even if the database responds.
 */
export async function leasedWrite({ leases, writable }: LeasedStore, withinMs: number): Promise<void> {
  const unavailable = (why: string) => new Fault('storage_unavailable', why);
  if (!leases.healthy) throw unavailable(FENCED);
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable(LATE)), withinMs);
  const end = leases.onLost((lost) => {
    if (lost === 'all') reject(unavailable(FENCED));
  });
  await Promise.race([promise, writable()]).finally(() => {
    clearTimeout(timer);
    end();
  });
}
