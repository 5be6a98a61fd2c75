/**
 * One session in memory: its state, its context, who watches it. Every change goes through `transact`, one after
 * another: decide on the current state, write, and only then change the state and tell the watchers.
 */
import type {
  AgentRef,
  DurableEvent,
  DurableEventBody,
  EphemeralEvent,
  EphemeralEventBody,
  SessionEvent,
  TurnId,
} from '@parlance/protocol';
import { parseDurableEvent } from '@parlance/protocol';
import { restoredState } from '../domain/checkpoint.ts';
import { type Context, EMPTY, evolveContext } from '../domain/context.ts';
import { evolve } from '../domain/evolve.ts';
import { checkpointOf, recordOf } from '../domain/session-record.ts';
import { atRest, initialState, type SessionState, statusOf } from '../domain/session-state.ts';
import type { Bus, Channel } from '../ports/bus.ts';
import {
  AppendConflict,
  type EventStore,
  type SessionRecord,
  type SessionRef,
} from '../ports/event-store.ts';
import type { Log } from '../ports/logger.ts';
import { closesBlock, type OpenBlock } from './open-block.ts';
import { type ObservedSession, snapshotOf } from './snapshot.ts';

type Stopper = { readonly turn: TurnId; readonly controller: AbortController };

export type Sources = {
  readonly store: EventStore;
  readonly bus: Bus<ObservedSession>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** told of events that are durable, and of the state before them */
  readonly onCommitted?: (ref: SessionRef, events: readonly DurableEvent[], before: SessionState) => void;
};

const PAGE = 500;

/** How often a change is decided anew because another process has written to the session meanwhile. */
const MOST_CONFLICTS = 5;

/** What must be recorded before a turn that broke off goes on: what it has shown since its last step is void. */
export type ResumeEvent = DurableEventBody<'turn.resumed' | 'step.restarted'>;

export class LiveSession {
  state: SessionState;
  open: OpenBlock | null = null;
  /** the events since the session was last at rest: enough to bring any projection up to date */
  eventsSinceIdle: DurableEvent[] = [];
  /** how much had been said when the session was last at rest */
  messageCountAtIdle = 0;
  readonly channel: Channel<ObservedSession>;
  readonly observed: ObservedSession = {
    snapshot: () => snapshotOf(this),
    eventsSinceIdle: () => this.eventsSinceIdle,
  };
  /** a driver is moving the turn forward */
  driving = false;
  /** whether the lease of the driver still holds; asked right before a side effect */
  mayDrive: () => boolean = () => true;
  /** set where the turn broke off, with a process that is gone or because nothing could be stored, until it goes on */
  interrupted: ResumeEvent | null = null;
  #checkpoint: SessionRecord['checkpoint'] = null;
  #context: Context | null = null;
  #tail: Promise<unknown> = Promise.resolve();
  #abort: Stopper | null = null;

  private constructor(
    readonly ref: SessionRef,
    private readonly agent: AgentRef,
    private readonly sources: Sources,
  ) {
    this.state = initialState(agent);
    this.channel = sources.bus.channel(ref);
  }

  /** Reads the session from the store; one that does not exist yet is there, empty. */
  static async load(ref: SessionRef, agent: AgentRef, sources: Sources): Promise<LiveSession> {
    const session = new LiveSession(ref, agent, sources);
    const record = await sources.store.load(ref);
    if (!record) {
      session.#context = EMPTY;
      return session;
    }
    const restored = restoredState(record.checkpoint);
    if (restored) {
      session.#checkpoint = checkpointOf(restored);
      session.state = restored;
      session.messageCountAtIdle = restored.messageCount;
    }
    for await (const event of session.events(session.state.seq)) session.#apply(event);
    session.#resumeTurn();
    return session;
  }

  /** Events after `after` up to the present one, read page by page. */
  async *events(after: number): AsyncGenerator<DurableEvent> {
    for (;;) {
      const page = await this.sources.store.read(this.ref, after, PAGE);
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.seq;
    }
  }

  /** What the model is shown. Read from the log once, then kept up to date. */
  async context(): Promise<Context> {
    while (!this.#context) {
      const seq = this.state.seq;
      let context = EMPTY;
      for await (const event of this.events(Math.max(0, this.state.readFrom - 1))) {
        if (event.seq <= seq) context = evolveContext(context, event);
      }
      if (seq === this.state.seq) this.#context = context;
    }
    return this.#context;
  }

  /** The context if it has been read already: then it is up to date. */
  get loadedContext(): Context | null {
    return this.#context;
  }

  /**
   * Decides on the state as it is when all earlier changes are done, and makes the events durable. Returns them;
   * none where nothing was decided. What `decide` throws, this rejects with, and nothing has changed. Where the events
   * cancel the turn, it is stopped before they are written; where they cannot be written, it goes on. Where another
   * process has written to the session, that is taken in first and it is decided anew.
   */
  transact(decide: (state: SessionState) => readonly DurableEventBody[]): Promise<DurableEvent[]> {
    return this.#inTurn(() => this.#decided(decide));
  }

  /** The session is as if it had never been, for those who watch it too; false where there was none. */
  erase(by: string): Promise<boolean> {
    return this.#inTurn(async () => {
      this.abandon();
      const erased = await this.sources.store.erase(this.ref);
      this.state = initialState(this.agent);
      this.open = null;
      this.eventsSinceIdle = [];
      this.messageCountAtIdle = 0;
      this.interrupted = null;
      this.#checkpoint = null;
      this.#context = EMPTY;
      this.#abort = null;
      if (erased) this.publish({ type: 'session.erased', by });
      return erased;
    });
  }

  /** Takes in what another process has written to the session. */
  async refresh(): Promise<void> {
    await this.#inTurn(() => this.#catchUp());
  }

  /** Resolves when every change that was begun before is done. */
  async settled(): Promise<void> {
    await this.#tail;
  }

  /** On the path of a token: no promise, no parse, no copy. */
  publish(body: EphemeralEventBody): void {
    const event = body as EphemeralEvent;
    event.session = this.ref.id;
    event.id = this.sources.newId();
    event.at = this.sources.now();
    this.#tell(event);
  }

  /** Aborted when the turn is cancelled or superseded, as soon as that is decided. */
  signal(turn: TurnId): AbortSignal {
    return this.#stopper(turn).controller.signal;
  }

  /** Stops what is being done, and records nothing: the log knows how to go on. */
  abandon(): void {
    this.#abort?.controller.abort();
  }

  get idle(): boolean {
    return !this.driving && !this.channel.watched;
  }

  /** What a step has shown that could not be recorded does not count: the step is asked again. */
  voidBlock(): void {
    this.open = null;
  }

  #stopper(turn: TurnId): Stopper {
    if (this.#abort?.turn !== turn) this.#abort = { turn, controller: new AbortController() };
    return this.#abort;
  }

  #stop(events: readonly DurableEvent[]): Stopper | undefined {
    const cancelled = events.find((event) => event.type === 'turn.cancelled');
    if (!cancelled) return undefined;
    const stopper = this.#stopper(cancelled.turn);
    stopper.controller.abort();
    return stopper;
  }

  /** One after another. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#tail.then(work);
    this.#tail = run.catch(() => undefined);
    return run;
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

  /** Tells whether there was anything: the log may also be shorter than what we know, and then nothing helps. */
  async #catchUp(): Promise<boolean> {
    const { seq } = this.state;
    for await (const event of this.events(seq)) {
      this.#stop([event]);
      this.#apply(event);
      this.#tell(event);
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
    const at = now();
    const before = this.state;
    const { seq } = before;
    const events = bodies.map(
      (body, index): DurableEvent => ({
        ...body,
        session: this.ref.id,
        id: newId(),
        at,
        seq: seq + index + 1,
      }),
    );
    // What could not be read again would make the whole session unreadable: it is refused here.
    for (const event of events) parseDurableEvent(event);
    const states: SessionState[] = [];
    for (const event of events) states.push(evolve(states.at(-1) ?? before, event));
    const next = states.at(-1) ?? before;
    const checkpoint = checkpointOf(next) ?? this.#checkpoint;
    const stopped = this.#stop(events);
    try {
      await store.append(seq, events, recordOf(this.ref, next, checkpoint));
    } catch (thrown) {
      if (this.#abort === stopped) this.#abort = null;
      throw thrown;
    }
    this.#checkpoint = checkpoint;
    for (const [index, event] of events.entries()) {
      this.#apply(event, states[index]);
      this.#tell(event);
    }
    this.#report(events, before);
    return events;
  }

  #apply(event: DurableEvent, state = evolve(this.state, event)): void {
    this.state = state;
    if (this.#context) this.#context = evolveContext(this.#context, event);
    if (closesBlock(event, this.open)) this.open = null;
    if (atRest(this.state)) {
      this.eventsSinceIdle = [];
      this.messageCountAtIdle = this.state.messageCount;
    } else this.eventsSinceIdle.push(event);
  }

  /** What is counted wrongly must not keep anyone from going on. */
  #report(events: readonly DurableEvent[], before: SessionState): void {
    try {
      this.sources.onCommitted?.(this.ref, events, before);
    } catch (thrown) {
      this.sources.log.error({ err: thrown, session: this.ref.id }, 'events could not be counted');
    }
  }

  #tell(event: SessionEvent): void {
    this.channel.publish(event, this.observed);
  }
}
