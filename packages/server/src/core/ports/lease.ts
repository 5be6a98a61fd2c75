/**
 * Determines which node drives a session: calls the model, runs tools, records the results. A lease is taken
 * by an append (`EventStore.append`) or claimed separately. Contract tests: `testing/stores/contract/leases.ts`.
 */
import { type SessionRef, sessionKey } from './session-ref.ts';

/** Id of a node; new with every process start. */
export type NodeId = string;

export type Lease = {
  readonly ref: SessionRef;
  /** fencing token: increases with every claim, to distinguish earlier holders */
  readonly epoch: number;
};

/** The driver of a session after an append. */
export type Driver = { readonly node: NodeId; readonly epoch: number };

/**
 * Authority of an append. A driver passes its epoch; the append is rejected with `LeaseLost` unless this node
 * still drives the session with that epoch. A command takes the lease in the same append if the session has
 * work afterwards: `if-free` unless a living node drives it, `always` from any driver. A node that already
 * drives the session keeps its lease.
 */
export type AppendAs = (
  | { readonly by: 'driver'; readonly epoch: number }
  | { readonly by: 'command'; readonly take: 'never' | 'if-free' | 'always' }
) & {
  /**
   * Id of the event before these, if known. The append is rejected with `AppendConflict` if another event has its number: after a
   * failover of the database that this node has not noticed yet.
   */
  readonly last?: string;
};

export interface Leases {
  readonly node: NodeId;
  /**
   * Null if another living node drives the session. Returns the same lease if this node already holds it. A
   * lease is held until it is released, an append leaves the session without work, or the node is gone.
   */
  claim(ref: SessionRef): Promise<Lease | null>;
  /** Lets other nodes drive the session. Does nothing if the lease is outdated. */
  release(lease: Lease): Promise<void>;
  /**
   * Whether this node may still act on the lease. Synchronous, since it is checked right before a model or
   * tool call: no other node has claimed the session before it returns.
   */
  good(lease: Lease): boolean;
  /** The driver of the session, alive or not. One cheap read. */
  driverOf(ref: SessionRef): Promise<Driver | null>;
  /** Claims running sessions without a living driver for this node; at most `limit`. */
  takeOver(limit: number): Promise<readonly Lease[]>;
  /**
   * False if this node has fenced itself: it could not renew its leases for so long that another node may
   * take them soon. It then starts no model call and no tool. Synchronous, based on a monotonic clock.
   */
  readonly healthy: boolean;
  /**
   * Called if this node loses leases: another node has taken them or ended their turn, or this node has
   * fenced itself.
   */
  onLost(listener: (lost: readonly SessionRef[] | 'all') => void): () => void;
}

/** Thrown by `append` if the node no longer drives the session. Nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(ref: SessionRef, epoch: number) {
    super(`session ${sessionKey(ref)} is no longer driven with epoch ${epoch}`);
  }
}

// The nodes that use a store, for operators. Contract tests: `testing/stores/contract/nodes.ts`.

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
