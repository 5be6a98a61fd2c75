/** Lease timing. `PARLANCE_LEASE` scales all values proportionally. */
export type LeaseTimes = {
  /** how long a heartbeat renews the leases of a node */
  readonly leaseMs: number;
  /** interval between heartbeats */
  readonly intervalMs: number;
  /** a node without a successful heartbeat for this long fences itself, well before its leases end */
  readonly fenceMs: number;
  /**
   * a node whose heartbeat took longer does not declare others dead for one lease: the database may have been
   * slow for all
   */
  readonly lateMs: number;
};

export const LEASE_MS = 1_500;

export const leaseTimes = (leaseMs = LEASE_MS): LeaseTimes => ({
  leaseMs,
  intervalMs: Math.round((leaseMs * 4) / 15),
  fenceMs: Math.round((leaseMs * 11) / 15),
  lateMs: Math.round(leaseMs / 3),
});
