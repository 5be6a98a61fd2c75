/** Connects a session in memory with the nodes that drive or watch it. A single node has no link. */
import type { DurableEvent, EphemeralEvent } from '@parlance/protocol';
import type { AppendAs, Driver, Lease, Leases } from '../ports/lease.ts';
import type { SessionRef } from '../ports/session-ref.ts';
import type { SessionState } from '../session/session-state.ts';

import type { Delta, OpenArguments, OpenBlock } from './open-output.ts';

/** What an append has stored. */
export type Committed = {
  readonly events: readonly DurableEvent[];
  readonly driver: Driver | null;
  /** id of the event before them, if it is known */
  readonly after: string | undefined;
};

export interface SessionLink {
  /** Whether a client on this node follows the session on another node. */
  readonly followed: boolean;
  /** Sends to the nodes that watch the session. On the token path: does nothing if there are none. */
  publish(event: EphemeralEvent): void;
  /** Sends stored events to the nodes that watch or drive the session. */
  committed(committed: Committed): void;
  /** An append has failed, but may be stored: reads the session again later. */
  unsure(): void;
  /** Sends the number of the last event, if this node may have stored it without sending it. */
  tell(): void;
  /** Makes other nodes send their events. Returns a function that ends this. */
  watch(): () => void;
  /** Resolves when the session is up to date, including the open block of the driving node if it responds. */
  join(): Promise<void>;
  /** Asks the driving node to stop for an interruption, and applies the output that it has streamed. */
  stop(): Promise<void>;
  /** Whether another node watches the session, according to the registry. */
  isWatchedElsewhere(): Promise<boolean>;
  close(): void;
}

/** The part of a session that its link uses. */
export interface LinkedSession {
  readonly ref: SessionRef;
  readonly state: SessionState;
  readonly open: OpenBlock | null;
  readonly openArguments: OpenArguments;
  readonly role: DriverRole;
  readonly eventsSinceIdle: readonly DurableEvent[];
  show(delta: Delta, text?: string): void;
  pass(event: EphemeralEvent): void;
  erasedElsewhere(event: EphemeralEvent<'session.erased'>): Promise<void>;
  received(committed: Committed): Promise<void>;
  fresh(): Promise<void>;
}

export interface SessionNetwork {
  link(session: LinkedSession): SessionLink;
}

// Tracks whether this node drives a session, as far as it knows.

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
  acquiredBy(driver: Driver | null): void {
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

  leaseLost(): void {
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
    else this.leaseLost();
    return lease !== null;
  }

  async release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    if (lease) await this.leases.release(lease);
  }
}
