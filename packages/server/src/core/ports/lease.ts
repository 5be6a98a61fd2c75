/**
 * Which node drives a session: asks the model, runs tools, records what came of it. A lease is taken by an append
 * (`EventStore.append`) or claimed by itself. `stores/contract/leases.ts` tests every promise made here.
 */
import { type SessionRef, sessionKey } from './session-ref.ts';

/** Names a node; new with every start of a process. */
export type NodeId = string;

export type Lease = {
  readonly ref: SessionRef;
  /** fencing token: grows with every claim of the session, to distinguish earlier holders */
  readonly epoch: number;
};

/** The driver of a session after an append. */
export type Driver = { readonly node: NodeId; readonly epoch: number };

/**
 * On whose authority events are appended. A driver names its epoch; the append is refused with `Deposed` unless this node
 * still drives the session with it. A command takes the lease in the same append if the session has work afterwards:
 * `if-free` unless a living node drives it, `always` from whoever drives it. A node that drives it already keeps its lease.
 */
export type AppendAs =
  | { readonly by: 'driver'; readonly epoch: number }
  | { readonly by: 'command'; readonly take: 'never' | 'if-free' | 'always' };

export interface Leases {
  readonly node: NodeId;
  /**
   * Null if another node that is alive drives the session. A node that holds the lease already gets the same one. A
   * lease is held until it is released, an append leaves the session without work, or the node is gone.
   */
  claim(ref: SessionRef): Promise<Lease | null>;
  /** Another node may drive the session. Does nothing if the lease is not the present one. */
  release(lease: Lease): Promise<void>;
  /**
   * Whether this node may still act on the lease. Synchronous, since it is asked right before a model or a tool is: no
   * other node has claimed the session before it returns.
   */
  good(lease: Lease): boolean;
  /** The driver of the session, alive or not. One cheap read. */
  driverOf(ref: SessionRef): Promise<Driver | null>;
  /** Running sessions without a living driver, claimed for this node; at most `limit`. */
  takeOver(limit: number): Promise<readonly Lease[]>;
  /**
   * False if this node has fenced itself: it could not renew its leases for so long that another node may take them soon.
   * It then starts no model call and no tool. Synchronous, by a monotonic clock.
   */
  readonly healthy: boolean;
  /** Called when this node loses leases: another node has taken them or ended their turn, or this node fenced itself. */
  onLost(listener: (lost: readonly SessionRef[] | 'all') => void): () => void;
}

/** Thrown by `append` when a driver is not the session's driver any more. Nothing was written. */
export class Deposed extends Error {
  override readonly name = 'Deposed';
  constructor(ref: SessionRef, epoch: number) {
    super(`session ${sessionKey(ref)} is not driven with epoch ${epoch} any more`);
  }
}
