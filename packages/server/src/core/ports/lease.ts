/**
 * Which node drives a session: asks the model, runs tools, records what came of it. `stores/contract/leases.ts` tests
 * every promise made here.
 */
import type { SessionRef } from './event-store.ts';

/** Names a node; new with every start of a process. */
export type NodeId = string;

export type Lease = {
  readonly ref: SessionRef;
  /** fencing token: it grows with every claim of the session, so that an earlier holder can be told from the present */
  readonly epoch: number;
};

export interface Leases {
  /**
   * Null if another node that is alive drives the session. A node that holds the lease already gets the same one. A
   * lease is held until it is released or the node is gone.
   */
  claim(ref: SessionRef): Promise<Lease | null>;
  /** Another node may drive the session. Does nothing if the lease is not the present one. */
  release(lease: Lease): Promise<void>;
  /**
   * Whether this node may still act on the lease. Synchronous, since it is asked right before a model or a tool is: no
   * other node has claimed the session before it returns.
   */
  good(lease: Lease): boolean;
}
