/** The nodes that use a store, for operators. Contract tests: `testing/stores/contract/nodes.ts`. */
import type { NodeId } from './lease.ts';

export type NodeState = {
  readonly id: NodeId;
  /** the Parlance version that it runs; empty if unknown */
  readonly release: string;
  /** sessions created there are driven only by nodes with the same home */
  readonly home: string | null;
  /** milliseconds since 1970 */
  readonly startedAt: number;
  /** milliseconds since its last heartbeat; null if the node does not share its store */
  readonly leaseAge: number | null;
  /** false if its leases have expired: other nodes take over its sessions */
  readonly alive: boolean;
  /** whether it is connected to the bus; `none` if it needs none */
  readonly bus: 'none' | 'up' | 'down';
  /** number of running sessions that it drives */
  readonly sessions: number;
};

/** In order of start. Stopped nodes are not listed; crashed ones are, for a while. */
export type ListNodes = () => Promise<readonly NodeState[]>;
