/**
 * One session in memory. Every change goes through `transact`, one after another: decide on the current state, store the
 * events, and only then change the state and publish them.
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
  /** the store did not answer when the turn was driven last */
  outage = false;

  /** Reads the session from the store, up to event number `upTo`. A session that does not exist is empty. */
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
    // The last event of the checkpoint is read as well: its id tells after a failover whether it is still there.
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

  /** Applies what another node has written to the session. */
  async refresh(): Promise<void> {
    await this.changes.run(() => this.catchUp());
  }

  /**
   * Applies what another node has written, if there can be another: what was acknowledged there is seen here. The driver
   * answers from memory if the store is away.
   */
  async fresh(): Promise<void> {
    if (!this.sources.shared) return;
    const { isHere } = this.role;
    await this.compare().catch((thrown) => {
      if (!isHere || !this.isOutage(thrown)) throw thrown;
    });
  }

  /** Applies stored events that are missing here. */
  async compare(): Promise<void> {
    await this.changes.run(() => this.moved());
  }

  /** Another server answers for the store, which may lack the last events or have others in their place. */
  async compareLast(): Promise<void> {
    await this.changes.run(async () => {
      const { seq } = this.state;
      const [last] = seq === 0 ? [] : await this.sources.store.read(this.ref, seq - 1, 1);
      if (seq > 0 && last?.id !== this.lastEvent) this.startAgain();
      await this.catchUp();
    });
  }

  /** Gets the lease if this node has none, with what was written by others meanwhile. False if another node drives. */
  async claim(): Promise<boolean> {
    if (this.role.holdsLease) return true;
    const lease = await this.sources.leases.claim(this.ref);
    if (lease) await this.#took(lease);
    else this.role.deposed();
    return lease !== null;
  }

  /** Gives the lease back if the session has no work by then, or if this node stops. */
  async release(stopping: boolean): Promise<void> {
    if (!this.role.holdsLease) return;
    await this.changes.run(async () => {
      if (stopping || statusOf(this.state) !== 'running') await this.role.release();
      if (stopping) this.role.deposed();
    });
  }

  /** Continues from the log what another node or an earlier process drove. */
  async takeOver(lease: Lease): Promise<void> {
    const { seq } = this.state;
    const wasElsewhere = this.role.isElsewhere;
    await this.#took(lease);
    // A session that only waited for a place here has streamed nothing.
    if (!this.driving || wasElsewhere || this.state.seq > seq) this.resumeTurn();
  }

  /** Another node drives the session: the running action is stopped. */
  async depose(): Promise<void> {
    this.lost();
    await this.refresh();
  }

  /** This node must not act on its lease for now: the running action is stopped, and continues later. */
  fence(): void {
    const { turn } = this.state;
    if (!turn || !this.role.holdsLease) return;
    this.interrupted ??= restartOf(turn, this.open !== null);
    this.abandon();
  }

  /** Stops the running action for another node that will end the turn. It continues later if that does not happen. */
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

  /** A part of a block that another node streams. */
  show(event: Delta, text = event.text): void {
    this.open = this.open?.block === event.block ? this.open : followedBlock(event);
    this.open.text.add(text);
    this.channel.publish(text === event.text ? event : { ...event, text }, this.observed);
  }

  /** An event of another node that is not stored. */
  pass(event: EphemeralEvent): void {
    if (event.type === 'session.erased') this.forget();
    if (event.type === 'call.arguments.delta') this.openArguments.add(event);
    this.channel.publish(event, this.observed);
  }

  /** Applies what another node has stored, told by that node: read from the store if anything is missing. */
  async received(events: readonly DurableEvent[], driver: Driver | null): Promise<void> {
    await this.changes.run(async () => {
      const [first] = events.filter(({ seq }) => seq > this.state.seq);
      // What a driver acts on comes from the store, not from a message.
      if (first && (this.role.isHere || first.seq !== this.state.seq + 1)) await this.catchUp();
      else for (const event of events) if (event.seq === this.state.seq + 1) this.follow(event);
      if (!this.driving && first) this.resumeTurn();
      if (this.role.isReplacedBy(driver)) this.lost();
    });
  }

  /** Aborted when the turn is cancelled or superseded, as soon as that is decided. */
  signal(turn: TurnId): AbortSignal {
    // Nothing runs here that was abandoned.
    if (!this.driving) this.abort.resume();
    return this.abort.signal(turn);
  }

  /** Stops the running action and records nothing: the turn resumes from the log. */
  abandon(): void {
    this.abort.now();
  }

  get abandoned(): boolean {
    return this.abort.abandoned;
  }

  /** An abandoned action can start again. */
  resume(): void {
    this.held = false;
    this.abort.resume();
  }

  /** It can be dropped from memory and read again without anyone noticing. */
  get idle(): boolean {
    return !this.driving && !this.channel.watched && !this.link?.followed;
  }

  /** Call when the session is dropped from memory. */
  close(): void {
    this.link?.close();
  }

  async #took(lease: Lease): Promise<void> {
    await this.changes.run(async () => {
      await this.moved();
      this.role.took(lease);
    });
  }
}
