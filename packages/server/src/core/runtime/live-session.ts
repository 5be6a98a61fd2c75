/**
 * One session in memory. Every change goes through `transact`, one after another: decide on the current state, store the
 * events, and only then change the state and publish them.
 */
import type {
  AgentRef,
  DurableEvent,
  DurableEventBody,
  EphemeralEvent,
  EphemeralEventBody,
  TurnId,
} from '@parlance/protocol';
import { parseDurableEvent } from '@parlance/protocol';
import { restoredState } from '../domain/checkpoint.ts';
import { evolve } from '../domain/evolve.ts';
import { checkpointOf, recordOf } from '../domain/session-record.ts';
import { type SessionState, statusOf } from '../domain/session-state.ts';
import type { Channel } from '../ports/bus.ts';
import { AppendConflict, type SessionRecord, type SessionRef } from '../ports/event-store.ts';
import { LiveState } from './live-state.ts';
import { SerialQueue } from './serial-queue.ts';
import type { SessionSources } from './session-sources.ts';
import type { ObservedSession } from './snapshot.ts';
import { TurnAbort } from './turn-abort.ts';

/** How often a change is decided again because another process has written to the session. */
const MOST_CONFLICTS = 5;

/** Recorded before an interrupted turn continues: what it has streamed since its last step is void. */
export type ResumeEvent = DurableEventBody<'turn.resumed' | 'step.restarted'>;

export class LiveSession extends LiveState {
  readonly channel: Channel<ObservedSession>;
  /** a driver runs the session, or will */
  driving = false;
  /** whether the lease of the driver still holds; asked right before a side effect */
  mayDrive: () => boolean = () => true;
  /** set while a turn is interrupted, by the end of a process or a failing store */
  interrupted: ResumeEvent | null = null;
  #checkpoint: SessionRecord['checkpoint'] = null;
  readonly #changes = new SerialQueue();
  readonly #abort = new TurnAbort();

  private constructor(
    ref: SessionRef,
    agent: AgentRef,
    private readonly sources: SessionSources,
  ) {
    super(ref, agent, sources.store);
    this.channel = sources.bus.channel(ref);
  }

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
      session.#checkpoint = checkpointOf(restored);
      session.restore(restored);
    }
    for await (const event of session.events(session.state.seq)) session.apply(event);
    session.#resumeTurn();
    return session;
  }

  /**
   * Decides on the state after all earlier changes, and makes the events durable. Returns the events; none if nothing was
   * decided. Rejects with what `decide` throws, and then nothing has changed. If the events cancel the turn, it is aborted
   * before they are stored; if they cannot be stored, it continues. If another process has written to the session, its
   * events are applied first and `decide` runs again.
   */
  transact(decide: (state: SessionState) => readonly DurableEventBody[]): Promise<DurableEvent[]> {
    return this.#changes.run(() => this.#decided(decide));
  }

  /** Deletes the session, and tells its subscribers. False if there was none. */
  erase(by: string): Promise<boolean> {
    return this.#changes.run(async () => {
      this.abandon();
      const erased = await this.sources.store.erase(this.ref);
      this.clear();
      this.interrupted = null;
      this.#checkpoint = null;
      this.#abort.reset();
      if (erased) this.publish({ type: 'session.erased', by });
      return erased;
    });
  }

  /** Applies what another process has written to the session. */
  async refresh(): Promise<void> {
    await this.#changes.run(() => this.#catchUp());
  }

  /** Resolves when every earlier change is done. */
  settled(): Promise<void> {
    return this.#changes.settled();
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
    return this.#abort.signal(turn);
  }

  /** Stops the running action and records nothing: the turn resumes from the log. */
  abandon(): void {
    this.#abort.now();
  }

  get idle(): boolean {
    return !this.driving && !this.channel.watched;
  }

  async #decided(decide: (state: SessionState) => readonly DurableEventBody[]): Promise<DurableEvent[]> {
    for (let conflicts = 0; ; ) {
      try {
        return await this.#commit(decide(this.state));
      } catch (thrown) {
        if (!(thrown instanceof AppendConflict) || ++conflicts > MOST_CONFLICTS) throw thrown;
        if (!(await this.#catchUp())) throw thrown;
      }
    }
  }

  /** False if there was nothing new: the log may also be shorter than the state in memory. */
  async #catchUp(): Promise<boolean> {
    const { seq } = this.state;
    for await (const event of this.events(seq)) {
      this.#abort.byEvents([event]);
      this.apply(event);
      this.channel.publish(event, this.observed);
    }
    if (this.state.seq === seq) return false;
    if (!this.driving) this.#resumeTurn();
    return true;
  }

  #resumeTurn(): void {
    const { turn } = this.state;
    if (turn && statusOf(this.state) === 'running')
      this.interrupted = { type: 'turn.resumed', turn: turn.id };
  }

  async #commit(bodies: readonly DurableEventBody[]): Promise<DurableEvent[]> {
    if (bodies.length === 0) return [];
    const { store, now, newId } = this.sources;
    let at = now();
    const before = this.state;
    const { seq } = before;
    const session = this.ref.id;
    const events = bodies.map((body, index): DurableEvent => {
      // A call starts after what asked for it, although both are one append.
      if (body.type === 'tool.started' && index > 0) at = now();
      return { ...body, session, id: newId(), at, seq: seq + index + 1 };
    });
    // An event that cannot be read again would make the whole session unreadable.
    for (const event of events) parseDurableEvent(event);
    const states: SessionState[] = [];
    for (const event of events) states.push(evolve(states.at(-1) ?? before, event));
    const next = states.at(-1) ?? before;
    const checkpoint = checkpointOf(next) ?? this.#checkpoint;
    const resume = this.#abort.byEvents(events);
    try {
      await store.append(seq, events, recordOf(this.ref, next, checkpoint));
    } catch (thrown) {
      resume();
      throw thrown;
    }
    this.#checkpoint = checkpoint;
    for (const [index, event] of events.entries()) {
      this.apply(event, states[index]);
      this.channel.publish(event, this.observed);
    }
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
