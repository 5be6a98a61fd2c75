/** Whether a node that shares a database can store anything, for readiness. */
import { Fault } from '@parlance/protocol';
import type { Leases } from '../core/ports/lease.ts';

export type LeasedStore = { readonly leases: Leases; readonly writable: () => Promise<void> };

const FENCED = 'This node cannot renew its lease in the database just now.';
const LATE = 'The database does not answer just now.';

/**
 * Rejects if the database does not take a write within `withinMs`. Rejects at once if the lease of this node is not good,
 * and as soon as it ends: the node starts nothing without it, whatever the database answers.
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
