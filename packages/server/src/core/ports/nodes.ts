/** The nodes that use a store, as operators see them. `stores/contract/nodes.ts` tests every promise made here. */
import type { NodeId } from './lease.ts';

export type NodeState = {
  readonly id: NodeId;
  /** the version of Parlance that it runs; empty if it did not say */
  readonly release: string;
  /** sessions that were created there are driven only by nodes of the same home */
  readonly home: string | null;
  /** milliseconds since 1970 */
  readonly startedAt: number;
  /** milliseconds since its last heartbeat; null if the store is its own alone, so that it needs none */
  readonly leaseAge: number | null;
  /** false: its leases have ended, and other nodes take over what it drove */
  readonly alive: boolean;
  /** whether it reaches the bus to the other nodes; `none` if it needs none */
  readonly bus: 'none' | 'up' | 'down';
  /** running sessions that it drives */
  readonly sessions: number;
};

/** In the order of their start. A node that was stopped is not listed; one that died is, for a while. */
export type ListNodes = () => Promise<readonly NodeState[]>;
