import type { AgentRef, DurableEvent } from '@parlance/protocol';
import type { Context } from '../domain/context.ts';
import { evolve } from '../domain/evolve.ts';
import { initialState, isIdle, type SessionState } from '../domain/session-state.ts';
import type { EventStore, SessionRef } from '../ports/event-store.ts';
import { ContextReader } from './context-reader.ts';
import { storedEvents } from './event-pages.ts';
import { OpenArguments } from './open-arguments.ts';
import { closesBlock, type OpenBlock } from './open-block.ts';
import { type ObservedSession, snapshotOf } from './snapshot.ts';

/** In-memory state of a session. Everything except streaming text is derived from the log. */
export abstract class LiveState {
  state: SessionState;
  /** id of the last event, or null */
  protected lastEvent: string | null = null;
  open: OpenBlock | null = null;
  readonly openArguments = new OpenArguments();
  /** events since the session was last idle: enough to bring any projection up to date */
  eventsSinceIdle: DurableEvent[] = [];
  messageCountAtIdle = 0;
  readonly observed: ObservedSession = {
    snapshot: () => snapshotOf(this),
    eventsSinceIdle: () => this.eventsSinceIdle,
  };
  readonly #context = new ContextReader(this);

  protected constructor(
    readonly ref: SessionRef,
    private readonly agent: AgentRef,
    private readonly store: EventStore,
  ) {
    this.state = initialState(agent);
  }

  /** The stored events after sequence number `after`. */
  events(after: number): AsyncGenerator<DurableEvent> {
    return storedEvents(this.store, this.ref, after);
  }

  /** The context for the next model request. */
  context(): Promise<Context> {
    return this.#context.read();
  }

  /** The context if it has been read already; it is then current. */
  get loadedContext(): Context | null {
    return this.#context.loaded;
  }

  /** Drops streamed text that could not be recorded: its step runs again. */
  voidStreamed(): void {
    this.open = null;
    this.openArguments.clear();
  }

  protected apply(event: DurableEvent, state = evolve(this.state, event)): void {
    this.state = state;
    this.lastEvent = event.id;
    this.#context.apply(event);
    if (closesBlock(event, this.open)) this.open = null;
    this.openArguments.apply(event);
    if (isIdle(this.state)) {
      this.eventsSinceIdle = [];
      this.messageCountAtIdle = this.state.messageCount;
    } else this.eventsSinceIdle.push(event);
  }

  protected restore(state: SessionState): void {
    this.state = state;
    this.messageCountAtIdle = state.messageCount;
  }

  /** Resets to a session that is not in the store. */
  protected clear(): void {
    this.state = initialState(this.agent);
    this.lastEvent = null;
    this.voidStreamed();
    this.eventsSinceIdle = [];
    this.messageCountAtIdle = 0;
    this.#context.clear();
  }
}
