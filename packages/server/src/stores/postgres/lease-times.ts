/** The times of leases. They keep their proportions when `PARLANCE_LEASE` scales them. */
export type LeaseTimes = {
  /** how long a heartbeat keeps the leases of a node */
  readonly leaseMs: number;
  /** from one heartbeat to the next */
  readonly intervalMs: number;
  /** a node without a good heartbeat for so long fences itself, well before its leases end */
  readonly fenceMs: number;
  /** a node whose heartbeat took longer does not call other nodes dead for one lease: the database may have been slow for all */
  readonly lateMs: number;
};

export const LEASE_MS = 1_500;

export const leaseTimes = (leaseMs = LEASE_MS): LeaseTimes => ({
  leaseMs,
  intervalMs: Math.round((leaseMs * 4) / 15),
  fenceMs: Math.round((leaseMs * 11) / 15),
  lateMs: Math.round(leaseMs / 3),
});
