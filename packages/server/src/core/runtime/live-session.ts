/**
 * One session in memory. Every change goes through `transact`, one after another: decide on the current state, store the
 * events, and only then change the state and publish them.
 */
import type { AgentRef, EphemeralEvent, EphemeralEventBody, TurnId } from '@parlance/protocol';
import { restoredState } from '../domain/checkpoint.ts';
import { checkpointOf } from '../domain/session-record.ts';
import { statusOf } from '../domain/session-state.ts';
import type { SessionRef } from '../ports/event-store.ts';
import type { Lease } from '../ports/lease.ts';
import { RecordedSession } from './recorded-session.ts';
import { restartOf } from './session-change.ts';
import type { SessionSources } from './session-sources.ts';

export class LiveSession extends RecordedSession {
  /** Reads the session from the store. A session that does not exist is empty. */
  static async load(ref: SessionRef, agent: AgentRef, sources: SessionSources): Promise<LiveSession> {
    const session = new LiveSession(ref, agent, sources);
    const record = await sources.store.load(ref);
    if (!record) {
      session.clear();
      return session;
    }
    const restored = restoredState(record.checkpoint);
    if (restored) {
      session.checkpoint = checkpointOf(restored);
      session.restore(restored);
    }
    for await (const event of session.events(session.state.seq)) session.apply(event);
    session.resumeTurn();
    return session;
  }

  /** Deletes the session, and tells its subscribers. False if there was none. */
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

  /** Applies what another node has written, if there can be another: what was acknowledged there is seen here. */
  async fresh(): Promise<void> {
    if (this.sources.shared && !this.role.isHere) await this.changes.run(() => this.moved());
  }

  /** Gets the lease if this node has none, with what was written by others meanwhile. False if another node drives. */
  async claim(): Promise<boolean> {
    if (this.role.holdsLease) return true;
    if (!(await this.role.claim())) return false;
    await this.changes.run(() => this.moved());
    return true;
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
  async takeUp(lease: Lease): Promise<void> {
    this.role.took(lease);
    await this.changes.run(() => this.moved());
    if (!this.driving) this.resumeTurn();
  }

  /** Another node drives the session: the running action is stopped, and what it has streamed is void. */
  async depose(): Promise<void> {
    this.role.deposed();
    this.abandon();
    this.voidBlock();
    await this.refresh();
  }

  /** This node must not act on its lease for now: the running action is stopped, and continues later. */
  fence(): void {
    const { turn } = this.state;
    if (!turn || !this.role.holdsLease) return;
    this.interrupted ??= restartOf(turn, this.open !== null);
    this.abandon();
  }

  /** On the token path: no promise, no parse, no copy. */
  publish(body: EphemeralEventBody): void {
    const event = body as EphemeralEvent;
    event.session = this.ref.id;
    event.id = this.sources.newId();
    event.at = this.sources.now();
    this.channel.publish(event, this.observed);
  }

  /** Aborted when the turn is cancelled or superseded, as soon as that is decided. */
  signal(turn: TurnId): AbortSignal {
    return this.abort.signal(turn);
  }

  /** Stops the running action and records nothing: the turn resumes from the log. */
  abandon(): void {
    this.abort.now();
  }

  get abandoned(): boolean {
    return this.abort.abandoned;
  }

  /** An action that was abandoned may begin again. */
  resume(): void {
    this.abort.resume();
  }

  get idle(): boolean {
    return !this.driving && !this.channel.watched;
  }
}
