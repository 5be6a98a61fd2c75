/** Tracks whether this node drives a session, as far as it knows. */
import type { AppendAs, Driver, Lease, Leases } from '../ports/lease.ts';
import type { SessionRef } from '../ports/session-ref.ts';

/** Authority for a change: the driver's, or that of a command, which may take the lease. */
export type Authority = 'driver' | Extract<AppendAs, { by: 'command' }>['take'];

export class DriverRole {
  #lease: Lease | null = null;
  #elsewhere = false;

  constructor(
    private readonly ref: SessionRef,
    private readonly leases: Leases,
  ) {}

  /** Whether this node may call the model and run tools. Checked right before a side effect. */
  get isDriver(): boolean {
    return this.#lease !== null && this.leases.good(this.#lease);
  }

  /** Whether another node drives the session. */
  get isRemote(): boolean {
    return this.#elsewhere;
  }

  /** Whether no new work may start: another node drives the session, or this one has fenced itself. */
  get isLost(): boolean {
    return this.#elsewhere || (this.#lease !== null && !this.leases.good(this.#lease));
  }

  get holdsLease(): boolean {
    return this.#lease !== null;
  }

  /** 0 if this node does not drive the session. */
  get epoch(): number {
    return this.#lease?.epoch ?? 0;
  }

  /** Call after an append with the driver that it returned. */
  became(driver: Driver | null): void {
    if (driver?.node === this.leases.node) this.acquired({ ref: this.ref, epoch: driver.epoch });
    else {
      this.#lease = null;
      this.#elsewhere = driver !== null;
    }
  }

  acquired(lease: Lease): void {
    this.#elsewhere = false;
    if (this.#lease?.epoch !== lease.epoch) this.#lease = lease;
  }

  deposed(): void {
    this.#lease = null;
    this.#elsewhere = true;
  }

  /** Call if the session has no work and therefore no driver. */
  becameIdle(): void {
    this.#lease = null;
    this.#elsewhere = false;
  }

  /** Whether the events of another node show that it drives the session now. */
  isReplacedBy(driver: Driver | null): boolean {
    return driver !== null && driver.node !== this.leases.node && driver.epoch > this.epoch;
  }

  appendAs(authority: Authority): AppendAs {
    return authority === 'driver' ? { by: 'driver', epoch: this.epoch } : { by: 'command', take: authority };
  }

  /** False if another node drives the session. */
  async claim(): Promise<boolean> {
    const lease = await this.leases.claim(this.ref);
    if (lease) this.acquired(lease);
    else this.deposed();
    return lease !== null;
  }

  async release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    if (lease) await this.leases.release(lease);
  }
}
