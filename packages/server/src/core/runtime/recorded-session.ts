/** A session whose changes are decided one at a time, stored, and only then applied and published. */
import { type AgentRef, asFault, type DurableEvent, type DurableEventBody } from '@parlance/protocol';
import { type SessionState, statusOf } from '../domain/session-state.ts';
import type { Channel } from '../ports/bus.ts';
import {
  AppendConflict,
  type SessionLog,
  type SessionRecord,
  type SessionRef,
} from '../ports/event-store.ts';
import { Deposed, type Driver } from '../ports/lease.ts';
import { type Authority, DriverRole } from './driver-role.ts';
import { storedEvents } from './event-pages.ts';
import { LiveState } from './live-state.ts';
import { type Delta, missingDelta } from './open-block.ts';
import { SerialQueue } from './serial-queue.ts';
import { type Change, changeOf, type ResumeEvent } from './session-change.ts';
import type { SessionLink } from './session-link.ts';
import type { SessionSources } from './session-sources.ts';
import type { ObservedSession } from './snapshot.ts';
import { TurnAbort } from './turn-abort.ts';

/** After this many conflicts, a change is decided with exclusive access to the session. */
const MAX_CONFLICTS = 3;

type Decide = (state: SessionState) => readonly DurableEventBody[];

type Written =
  | { readonly change: Change; readonly driver: Driver | null }
  | { readonly change: null }
  | { readonly refusal: unknown };

/** Returns a conflict and rethrows every other failure. */
function conflict(thrown: unknown): AppendConflict {
  if (thrown instanceof AppendConflict) return thrown;
  throw thrown;
}

export abstract class RecordedSession extends LiveState {
  readonly channel: Channel<ObservedSession>;
  readonly role: DriverRole;
  /** whether it is in the run queue */
  driving = false;
  /** set while a turn is interrupted by a process exit or a failing store */
  interrupted: ResumeEvent | null = null;
  /** connection to the nodes that watch the session; null if there are none */
  link: SessionLink | null = null;
  protected checkpoint: SessionRecord['checkpoint'] = null;
  protected readonly changes = new SerialQueue();
  protected readonly abort = new TurnAbort();

  protected constructor(
    ref: SessionRef,
    agent: AgentRef,
    protected readonly sources: SessionSources,
  ) {
    super(ref, agent, sources.store);
    this.channel = sources.bus.channel(ref);
    this.role = new DriverRole(ref, sources.leases);
  }

  /**
   * Decides on the state after all earlier changes and stores the events. Returns the events, or none if `decide` returns
   * none. Rejects with the error that `decide` throws; nothing has changed then. If the events cancel the turn, it is aborted
   * before they are stored; if they cannot be stored, it continues. If another node has appended to the session, its
   * events are applied first and `decide` runs again. Rejects with `Deposed` if `authority` is the driver's and another
   * node drives the session.
   */
  transact(decide: Decide, authority: Authority = 'driver'): Promise<DurableEvent[]> {
    return this.changes.run(() => this.#decided(decide, authority));
  }

  /**
   * Whether the error is an outage of a store that several nodes share: the store is restarting or failing
   * over, and the turn continues when it is back.
   */
  isOutage(thrown: unknown): boolean {
    return this.sources.shared && asFault(thrown).code === 'storage_unavailable';
  }

  /** Resolves when every earlier change is done. */
  settled(): Promise<void> {
    return this.changes.settled();
  }

  protected override apply(event: DurableEvent, state?: SessionState): void {
    super.apply(event, state);
    if (statusOf(this.state) === 'running') return;
    this.interrupted = null;
    this.role.becameIdle();
  }

  async #decided(decide: Decide, authority: Authority): Promise<DurableEvent[]> {
    if (authority === 'driver' && !this.role.holdsLease) {
      if (decide(this.state).length === 0) return [];
      await this.#claimAgain();
    }
    let compared = !this.sources.shared;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
      const written = await this.#write(decide, authority).catch(conflict);
      if (written instanceof AppendConflict) {
        conflicts++;
        if (!(await this.catchUp())) throw written;
      } else if (!('refusal' in written)) return this.#committed(written);
      // Another node may have changed the state since the refusal: decide once more on the current one.
      else if (compared || !(await this.moved())) throw written.refusal;
      else compared = true;
    }
    return this.#decidedExclusively(decide, authority);
  }

  async #decidedExclusively(decide: Decide, authority: Authority): Promise<DurableEvent[]> {
    const { store } = this.sources;
    const written = await store.exclusively(this.ref, async (log) => {
      await this.catchUp(log);
      return this.#write(decide, authority, log);
    });
    if ('refusal' in written) throw written.refusal;
    return this.#committed(written);
  }

  /** A turn that was waiting for an answer has released its lease. */
  async #claimAgain(): Promise<void> {
    if (this.role.isRemote || !(await this.role.claim())) throw new Deposed(this.ref, this.role.epoch);
  }

  /** Catches up if the log has new events; otherwise costs one cheap read. */
  protected async moved(): Promise<boolean> {
    const head = await this.sources.store.head(this.ref);
    if (head === this.state.seq) return false;
    if (head < this.state.seq) this.startAgain();
    return this.catchUp();
  }

  /**
   * The session was erased by another node, or the store has lost its last events: subscribers start over.
   */
  protected startAgain(): void {
    const { newId, now } = this.sources;
    this.forget();
    const event = {
      type: 'session.erased',
      by: 'server',
      session: this.ref.id,
      id: newId(),
      at: now(),
    } as const;
    this.channel.publish(event, this.observed);
  }

  /** False if there was nothing new; the log may also be shorter than the state in memory. */
  protected async catchUp(log: SessionLog = this.sources.store): Promise<boolean> {
    const { seq } = this.state;
    for await (const event of storedEvents(log, this.ref, seq)) this.follow(event);
    if (this.state.seq === seq) return false;
    if (!this.driving) this.resumeTurn();
    return true;
  }

  /**
   * Applies an event of another node. If it ends a block, first publishes the text that subscribers have not
   * received.
   */
  protected follow(event: DurableEvent): void {
    if (this.sources.shared && event.type === 'turn.resumed' && this.role.holdsLease) this.lost();
    const missing = this.sources.shared ? missingDelta(event, this.open, this.sources.newId()) : null;
    if (missing) this.show(missing);
    this.abort.byEvents([event]);
    this.apply(event);
    this.channel.publish(event, this.observed);
  }

  /** Publishes a part of a block that another node streams. */
  protected abstract show(delta: Delta): void;

  protected resumeTurn(): void {
    const { turn } = this.state;
    if (turn && statusOf(this.state) === 'running')
      this.interrupted = { type: 'turn.resumed', turn: turn.id };
  }

  /**
   * Another node drives the session. Stops the running action at once: it must not add to a block that the
   * other node streams.
   */
  protected lost(): void {
    this.role.deposed();
    this.abort.now();
  }

  protected forget(): void {
    this.clear();
    this.role.became(null);
    this.interrupted = null;
    this.checkpoint = null;
    this.abort.reset();
  }

  /**
   * Synchronous until the append starts, so that nothing is streamed between a decision that ends a turn and
   * its abort.
   */
  async #write(decide: Decide, authority: Authority, log: SessionLog = this.sources.store): Promise<Written> {
    let bodies: readonly DurableEventBody[];
    try {
      bodies = decide(this.state);
    } catch (refusal) {
      return { refusal };
    }
    if (bodies.length === 0) return { change: null };
    const change = changeOf(this, bodies, { ...this.sources, checkpoint: this.checkpoint });
    const resume = this.abort.byEvents(change.events);
    try {
      const as = this.role.appendAs(authority);
      return { change, driver: await log.append(change.before.seq, change.events, change.record, as) };
    } catch (thrown) {
      resume();
      if (thrown instanceof Deposed) this.lost();
      throw thrown;
    }
  }

  #committed(written: Exclude<Written, { refusal: unknown }>): DurableEvent[] {
    if (!written.change) return [];
    const { before, events, states, record } = written.change;
    this.checkpoint = record.checkpoint;
    for (const [index, event] of events.entries()) {
      this.apply(event, states[index]);
      this.channel.publish(event, this.observed);
    }
    this.role.became(written.driver);
    if (this.role.isRemote) this.abort.now();
    this.link?.committed(events, written.driver);
    this.#report(events, before);
    return events;
  }

  /** A failing metric must not stop the session. */
  #report(events: readonly DurableEvent[], before: SessionState): void {
    try {
      this.sources.onCommitted?.(this.ref, events, before);
    } catch (thrown) {
      this.sources.log.error({ err: thrown, session: this.ref.id }, 'metrics failed');
    }
  }
}
