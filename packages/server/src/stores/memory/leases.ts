/** The leases of a store that one process alone uses. Nodes that are opened on one `LeaseTable` exclude each other. */
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Lease, Leases } from '../../core/ports/lease.ts';

/** Who holds which lease, for all nodes of the table. */
export class LeaseTable {
  readonly held = new Map<string, { readonly lease: Lease; readonly node: object }>();
  /** one count for all sessions: an epoch is never given out twice */
  epoch = 0;
}

export function openMemoryLeases(table = new LeaseTable()): Leases {
  const node = {};
  const heldHere = (ref: SessionRef) => {
    const held = table.held.get(sessionKey(ref));
    return held?.node === node ? held.lease : null;
  };
  const isCurrent = (lease: Lease) => heldHere(lease.ref)?.epoch === lease.epoch;
  return {
    async claim(ref) {
      const key = sessionKey(ref);
      if (table.held.has(key)) return heldHere(ref);
      const lease = { ref, epoch: ++table.epoch };
      table.held.set(key, { lease, node });
      return lease;
    },
    async release(lease) {
      if (isCurrent(lease)) table.held.delete(sessionKey(lease.ref));
    },
    good: isCurrent,
  };
}
