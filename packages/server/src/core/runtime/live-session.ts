/**
 * One session in memory. All changes go through `transact`, one at a time: decide on the current state, store
 * the events, then update the state and publish.
 */
import type { AgentRef, DurableEvent, EphemeralEvent, EphemeralEventBody, TurnId } from '@parlance/protocol';
import { restoredState } from '../domain/checkpoint.ts';
import { checkpointOf } from '../domain/session-record.ts';
import { statusOf } from '../domain/session-state.ts';
import type { SessionRef } from '../ports/event-store.ts';
import type { Driver, Lease } from '../ports/lease.ts';
import { type Delta, followedBlock } from './open-block.ts';
import { RecordedSession } from './recorded-session.ts';
import { restartOf } from './session-change.ts';
import type { SessionSources } from './session-sources.ts';

export class LiveSession extends RecordedSession {
  /** another node is about to end the turn */
  held = false;
  /** the store was unavailable when the turn last ran */
  outage = false;

  /** Loads the session from the store, up to event number `upTo`. A session that does not exist is empty. */
  static async load(
    ref: SessionRef,
    { agent, upTo }: { readonly agent: AgentRef; readonly upTo: number },
    sources: SessionSources,
  ): Promise<LiveSession> {
    const session = new LiveSession(ref, agent, sources);
    session.link = sources.network?.link(session) ?? null;
    const record = await sources.store.load(ref);
    if (!record) {
      session.clear();
      return session;
    }
    const restored = restoredState(record.checkpoint);
    if (restored) session.checkpoint = checkpointOf(restored);
    if (restored && restored.seq <= upTo) session.restore(restored);
    // Read the checkpoint's last event as well: after a failover, its id shows whether the store still has
    // it.
    const from = sources.shared ? Math.max(0, session.state.seq - 1) : session.state.seq;
    for await (const event of session.events(from)) {
      if (event.seq > upTo) break;
      if (event.seq > session.state.seq) session.apply(event);
      else session.lastEvent = event.id;
    }
    session.resumeTurn();
    return session;
  }

  /** Deletes the session and notifies its subscribers. False if there was none. */
  erase(by: string): Promise<boolean> {
    return this.changes.run(async () => {
      this.abandon();
      const erased = await this.sources.store.erase(this.ref);
      this.forget();
      if (erased) this.publish({ type: 'session.erased', by });
      return erased;
    });
  }

  /** Applies events that another node has appended. */
  async refresh(): Promise<void> {
    await this.changes.run(() => this.catchUp());
  }

  /**
   * Applies events that another node has appended, if several nodes share the store, so that a read sees all
   * acknowledged writes. The driver answers from memory if the store is unavailable.
   */
  async fresh(): Promise<void> {
    if (!this.sources.shared) return;
    const { isDriver } = this.role;
    await this.compare().catch((thrown) => {
      if (!isDriver || !this.isOutage(thrown)) throw thrown;
    });
  }

  /** Applies stored events that are not in memory yet. */
  async compare(): Promise<void> {
    await this.changes.run(() => this.moved());
  }

  /**
   * Call after a database failover: the store may lack the last events or have different ones in their place.
   */
  async compareLast(): Promise<void> {
    await this.changes.run(async () => {
      const { seq } = this.state;
      const [last] = seq === 0 ? [] : await this.sources.store.read(this.ref, seq - 1, 1);
      if (seq > 0 && last?.id !== this.lastEvent) this.startAgain();
      await this.catchUp();
    });
  }

  /**
   * Claims the lease if this node does not hold it, and applies events that others have appended. False if
   * another node drives the session.
   */
  async claim(): Promise<boolean> {
    if (this.role.holdsLease) return true;
    const lease = await this.sources.leases.claim(this.ref);
    if (lease) await this.#took(lease);
    else this.role.deposed();
    return lease !== null;
  }

  /** Releases the lease if the session has no work left, or if this node is stopping. */
  async release(stopping: boolean): Promise<void> {
    if (!this.role.holdsLease) return;
    await this.changes.run(async () => {
      if (stopping || statusOf(this.state) !== 'running') await this.role.release();
      if (stopping) this.role.deposed();
    });
  }

  /** Continues a turn from the log after another node or an earlier process. */
  async takeOver(lease: Lease): Promise<void> {
    const { seq } = this.state;
    const wasElsewhere = this.role.isRemote;
    await this.#took(lease);
    // A session that only waited in the queue here has not streamed anything.
    if (!this.driving || wasElsewhere || this.state.seq > seq) this.resumeTurn();
  }

  /** Another node drives the session: stops the running action. */
  async depose(): Promise<void> {
    this.lost();
    await this.refresh();
  }

  /** This node must not use its lease for now: stops the running action, which continues later. */
  fence(): void {
    const { turn } = this.state;
    if (!turn || !this.role.holdsLease) return;
    this.interrupted ??= restartOf(turn, this.open !== null);
    this.abandon();
  }

  /**
   * Stops the running action so that another node can end the turn. It continues later if that does not
   * happen.
   */
  hold(): void {
    this.fence();
    this.held = true;
  }

  /** On the token path: no promise, no parse, no copy. */
  publish(body: EphemeralEventBody): void {
    const event = body as EphemeralEvent;
    event.session = this.ref.id;
    event.id = this.sources.newId();
    event.at = this.sources.now();
    this.channel.publish(event, this.observed);
    this.link?.publish(event);
  }

  /** Shows a part of a block that another node streams. */
  show(event: Delta, text = event.text): void {
    this.open = this.open?.block === event.block ? this.open : followedBlock(event);
    this.open.text.add(text);
    this.channel.publish(text === event.text ? event : { ...event, text }, this.observed);
  }

  /** Forwards an ephemeral event of another node. */
  pass(event: EphemeralEvent): void {
    if (event.type === 'session.erased') this.forget();
    if (event.type === 'call.arguments.delta') this.openArguments.add(event);
    this.channel.publish(event, this.observed);
  }

  /** Applies durable events received from the node that stored them; reads the store if there is a gap. */
  async received(events: readonly DurableEvent[], driver: Driver | null): Promise<void> {
    await this.changes.run(async () => {
      const [first] = events.filter(({ seq }) => seq > this.state.seq);
      // A driver trusts only the store, not messages.
      if (first && (this.role.isDriver || first.seq !== this.state.seq + 1)) await this.catchUp();
      else for (const event of events) if (event.seq === this.state.seq + 1) this.follow(event);
      if (!this.driving && first) this.resumeTurn();
      if (this.role.isReplacedBy(driver)) this.lost();
    });
  }

  /** Aborted when the turn is cancelled or superseded, as soon as that is decided. */
  signal(turn: TurnId): AbortSignal {
    // An abandoned action has stopped by now if nothing is driving.
    if (!this.driving) this.abort.resume();
    return this.abort.signal(turn);
  }

  /** Stops the running action without recording anything: the turn resumes from the log. */
  abandon(): void {
    this.abort.now();
  }

  get abandoned(): boolean {
    return this.abort.abandoned;
  }

  /** Allows an abandoned action to start again. */
  resume(): void {
    this.held = false;
    this.abort.resume();
  }

  /** Whether it can be evicted from memory: nothing runs, watches or follows it. */
  get idle(): boolean {
    return !this.driving && !this.channel.watched && !this.link?.followed;
  }

  /** Call when the session is evicted from memory. */
  close(): void {
    this.link?.close();
  }

  async #took(lease: Lease): Promise<void> {
    await this.changes.run(async () => {
      await this.moved();
      this.role.acquired(lease);
    });
  }
}
