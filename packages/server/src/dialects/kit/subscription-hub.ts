/** The subscribers of one dialect. All subscribers of a session share one projection. */
import type { ConnectionId, EphemeralEvent, PrincipalId, SessionEvent } from '@parlance/protocol';
import {
  type Engine,
  type Log,
  type ObservedSession,
  type SessionRef,
  type SessionSnapshot,
  sessionKey,
  type Watch,
} from '../../core/index.ts';
import type { Pieces, Subscriber } from '../../http/connection.ts';
import { ConnectionRegistry, type WatchScope } from './connection-registry.ts';
import type { Frame, Projection } from './projection.ts';

/** Selects which frames of `attach` a new subscriber is sent. */
export type FrameFilter = (body: object) => boolean;

export const NOTHING: FrameFilter = () => false;

/** The position of a subscriber that reads past events from the log before it receives live events. */
export type Cursor = {
  /** The number of the last event that the subscriber was sent. */
  readonly seq: number;
  /** Sends the events after `seq`, up to and including `head`. */
  catchUp(head: number): Promise<void>;
};

export type SubscribeOptions = {
  readonly shown?: FrameFilter;
  readonly cursor?: Cursor;
};

/** A session and its projected state. */
export type ProjectedSession<State> = {
  state(): State;
  snapshot(): SessionSnapshot;
  end(): void;
};

const ignore = () => undefined;

type Group<State> = { state: State; readonly watch: Watch; readonly subscribers: Subscribers };
type Subscription<State> = { readonly group: Group<State> | null; readonly end: () => void };
type OwnerGroup = { readonly subscribers: Subscribers; readonly stop: () => void };

export type HubOptions = {
  readonly log: Log;
  /** the dialect under which subscribers are registered */
  readonly dialect?: string;
  readonly connections?: ConnectionRegistry;
};

export class SubscriptionHub<State> {
  readonly #groups = new Map<string, Promise<Group<State>>>();
  readonly #ownerGroups = new Map<PrincipalId, OwnerGroup>();
  readonly #subscriptions = new Map<ConnectionId, Map<string, Subscription<State>>>();
  readonly #delivery: Delivery<State>;
  readonly #dialect: string;
  readonly #connections: ConnectionRegistry;
  #observers = 0;

  constructor(
    private readonly engine: Engine,
    projection: Projection<State>,
    { log, dialect = '', connections = new ConnectionRegistry() }: HubOptions,
  ) {
    this.#delivery = new Delivery(projection, log);
    this.#dialect = dialect;
    this.#connections = connections;
  }

  /**
   * Sends the frames of the projection's `attach`, then those of every later event, without a gap. With a
   * cursor, the events after it are sent first. A second call for the same session does nothing.
   */
  async subscribe(ref: SessionRef, subscriber: Subscriber, options: SubscribeOptions = {}): Promise<void> {
    const { shown, cursor } = options;
    const key = sessionKey(ref);
    for (;;) {
      const pending = this.#groups.get(key) ?? this.#openGroup(key, ref);
      const group = await pending;
      if (this.#groups.get(key) !== pending) continue; // closed in the meantime with its last subscriber
      if (!subscriber.open) return this.#closeIfEmpty(key, group);
      if (group.subscribers.has(subscriber.id)) return;
      const { seq } = group.watch.snapshot();
      if (cursor && cursor.seq < seq) {
        await cursor.catchUp(seq).catch((thrown) => {
          if (this.#groups.get(key) === pending) this.#closeIfEmpty(key, group);
          throw thrown;
        });
        continue;
      }
      this.#add(key, group, subscriber);
      this.#register(ref, subscriber);
      if (shown === NOTHING) return;
      for (const body of this.#delivery.attach(group.state, group.watch))
        if (shown?.(body) ?? true) this.#delivery.send(body, subscriber);
      return;
    }
  }

  /** The projected state and the snapshot of the session at this moment. */
  async read(ref: SessionRef): Promise<{ readonly state: State; readonly snapshot: SessionSnapshot }> {
    const projected = await this.observe(ref);
    projected.end();
    return { state: projected.state(), snapshot: projected.snapshot() };
  }

  /** Keeps the projection of the session, so that its state can be read, until `end` is called. */
  async observe(ref: SessionRef): Promise<ProjectedSession<State>> {
    const id = `observer ${++this.#observers}` as ConnectionId;
    const observer: Subscriber = { id, open: true, hidden: true, send: ignore, close: ignore };
    await this.subscribe(ref, observer, { shown: NOTHING });
    const group = this.#subscriptions.get(id)?.get(sessionKey(ref))?.group;
    if (!group) throw new Error('subscription without a group');
    return {
      state: () => group.state,
      snapshot: () => group.watch.snapshot(),
      end: () => this.leave(observer),
    };
  }

  isSubscribed(ref: SessionRef, subscriber: Subscriber): boolean {
    return this.#subscriptions.get(subscriber.id)?.has(sessionKey(ref)) ?? false;
  }

  unsubscribe(ref: SessionRef, subscriber: Subscriber): void {
    const subscriptions = this.#subscriptions.get(subscriber.id);
    const subscription = subscriptions?.get(sessionKey(ref));
    subscriptions?.delete(sessionKey(ref));
    if (subscriptions?.size === 0) this.#subscriptions.delete(subscriber.id);
    this.#connections.detach(ref, subscriber);
    subscription?.end();
  }

  /** Snapshots of the sessions that the subscriber receives. */
  snapshots(subscriber: Subscriber): SessionSnapshot[] {
    return this.observed(subscriber).map((session) => session.snapshot());
  }

  /** The sessions that the subscriber receives. */
  observed(subscriber: Subscriber): ObservedSession[] {
    const subscriptions = [...(this.#subscriptions.get(subscriber.id)?.values() ?? [])];
    return subscriptions.flatMap(({ group }) => (group ? [group.watch] : []));
  }

  /**
   * Moves a subscription from one subscriber to another. Synchronous, so each event reaches exactly one of
   * them. Returns the frames that a new subscriber would be sent now.
   */
  replace(ref: SessionRef, before: Subscriber, successor: Subscriber): readonly object[] {
    const key = sessionKey(ref);
    const subscriptions = this.#subscriptions.get(before.id);
    const group = subscriptions?.get(key)?.group;
    if (!subscriptions || !group) return [];
    subscriptions.delete(key);
    if (subscriptions.size === 0) this.#subscriptions.delete(before.id);
    group.subscribers.delete(before.id);
    this.#add(key, group, successor);
    this.#register(ref, successor);
    return this.#delivery.attach(group.state, group.watch);
  }

  /** Sends the subscriber the frames of all sessions of the owner from now on. */
  subscribeOwner(owner: PrincipalId, subscriber: Subscriber): void {
    const group = this.#ownerGroups.get(owner) ?? this.#openOwnerGroup(owner);
    group.subscribers.set(subscriber.id, subscriber);
    this.#register(owner, subscriber);
    const end = () => {
      group.subscribers.delete(subscriber.id);
      if (group.subscribers.size > 0) return;
      group.stop();
      this.#ownerGroups.delete(owner);
    };
    this.#record(subscriber, owner, { group: null, end });
  }

  /** Sends the subscriber the frames that a new subscriber of the session would be sent now. */
  async show(ref: SessionRef, subscriber: Subscriber): Promise<void> {
    const begin = (observed: Watch) => {
      for (const body of this.#delivery.attach(this.#delivery.stateOf(observed), observed))
        this.#delivery.send(body, subscriber);
    };
    const watch = await this.engine.watch(ref, ignore, { begin });
    watch.stop();
  }

  /** Ends all subscriptions of the subscriber. */
  leave(subscriber: Subscriber): void {
    const subscriptions = this.#subscriptions.get(subscriber.id);
    this.#subscriptions.delete(subscriber.id);
    this.#connections.leave(subscriber);
    for (const { end } of subscriptions?.values() ?? []) end();
  }

  #add(key: string, group: Group<State>, subscriber: Subscriber): void {
    group.subscribers.set(subscriber.id, subscriber);
    const end = () => {
      group.subscribers.delete(subscriber.id);
      this.#closeIfEmpty(key, group);
    };
    this.#record(subscriber, key, { group, end });
  }

  #record(subscriber: Subscriber, key: string, subscription: Subscription<State>): void {
    const subscriptions = this.#subscriptions.get(subscriber.id) ?? new Map<string, Subscription<State>>();
    subscriptions.set(key, subscription);
    this.#subscriptions.set(subscriber.id, subscriptions);
  }

  #register(place: WatchScope, subscriber: Subscriber): void {
    if (!subscriber.hidden) this.#connections.attach(place, this.#dialect, subscriber);
  }

  #closeIfEmpty(key: string, group: Group<State>): void {
    if (group.subscribers.size > 0) return;
    group.watch.stop();
    this.#groups.delete(key);
  }

  #openGroup(key: string, ref: SessionRef): Promise<Group<State>> {
    const { promise, resolve, reject } = Promise.withResolvers<Group<State>>();
    this.#groups.set(key, promise);
    let group: Group<State> | undefined;
    const sink = (event: SessionEvent) => {
      if (group) group.state = this.#delivery.deliver(group.state, event, group.subscribers);
    };
    const begin = (watch: Watch) => {
      group = { state: this.#delivery.stateOf(watch), watch, subscribers: new Map() };
      resolve(group);
    };
    this.engine.watch(ref, sink, { begin }).catch((thrown) => {
      this.#groups.delete(key);
      reject(thrown);
    });
    return promise;
  }

  #openOwnerGroup(owner: PrincipalId): OwnerGroup {
    const subscribers: Subscribers = new Map();
    /** only for sessions that are not idle */
    const states = new Map<string, State>();
    const stop = this.engine.watchOwner(owner, (event, session) => {
      const state = states.get(event.session) ?? this.#delivery.stateOf(session, event);
      states.set(event.session, this.#delivery.deliver(state, event, subscribers));
      if (session.eventsSinceIdle().length === 0) states.delete(event.session);
    });
    const group = { subscribers, stop };
    this.#ownerGroups.set(owner, group);
    return group;
  }
}

// Sends the frames of one projection to subscribers.

type Subscribers = Map<ConnectionId, Subscriber>;

/** The text of the open block before the event, as one delta: it was streamed after all stored events. */
function streamedBefore(
  { ref, open }: SessionSnapshot,
  before: SessionEvent | undefined,
): EphemeralEvent<'text.delta' | 'reasoning.delta'> | null {
  if (!open) return null;
  const { kind, turn, block, text } = open;
  const isPartOf =
    (before?.type === 'text.delta' || before?.type === 'reasoning.delta') && before.block === block;
  const earlier = isPartOf ? text.slice(0, text.length - before.text.length) : text;
  if (earlier === '') return null;
  const ids = { id: block, session: ref.id, at: 0 } as const;
  return { type: kind === 'text' ? 'text.delta' : 'reasoning.delta', turn, block, text: earlier, ...ids };
}

export class Delivery<State> {
  readonly #pieces: Pieces | undefined;

  constructor(
    private readonly projection: Projection<State>,
    private readonly log: Log,
  ) {
    this.#pieces = projection.pieces;
  }

  /** The current state of the session or, with `before`, the state before that event. */
  stateOf(session: ObservedSession, before?: SessionEvent): State {
    const now = session.snapshot();
    let state = this.projection.start(now);
    for (const event of session.eventsSinceIdle()) {
      if (event !== before) [state] = this.projection.step(state, event);
    }
    const streamed = streamedBefore(now, before);
    if (streamed) [state] = this.projection.step(state, streamed);
    return state;
  }

  /** The frames for a subscriber that joins now. */
  attach(state: State, session: ObservedSession): readonly object[] {
    return this.projection.attach(state, session.snapshot());
  }

  /** Sends a frame to one subscriber. */
  send(body: object, subscriber: Subscriber): void {
    subscriber.send(this.#encode(body), body);
  }

  /** Called for each token: one step and one encoding, independent of the number of subscribers. */
  deliver(state: State, event: SessionEvent, subscribers: Subscribers): State {
    let next: State;
    let frames: readonly Frame[];
    try {
      [next, frames] = this.projection.step(state, event);
    } catch (thrown) {
      this.log.error({ err: thrown, event: event.type, session: event.session }, 'projection failed');
      return state;
    }
    for (const frame of frames) {
      const text = this.#encode(frame.body);
      const { otherwise } = frame;
      // A subscriber that closes while it is sent the frame may be replaced. Its successor already has the
      // frame and comes last in the map, so the loop ends after the original subscribers.
      let left = subscribers.size;
      for (const subscriber of subscribers.values()) {
        if (left-- === 0) break;
        if (otherwise && subscriber.answers?.(event.session) === false)
          subscriber.send(this.#encode(otherwise), otherwise, this.#pieces);
        else if (subscriber.id !== frame.except) subscriber.send(text, frame.body, this.#pieces);
      }
    }
    return next;
  }

  #encode(body: object): string {
    return this.projection.encode?.(body) ?? JSON.stringify(body);
  }
}
