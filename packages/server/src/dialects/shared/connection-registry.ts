/** Who is attached to which session right now, in which dialect; and what passes on their sockets, for those who look. */
import type { ConnectionId, Principal, PrincipalId } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../../core/api/index.ts';
import type { FrameTap, Socket } from '../../http/connection.ts';

/** One message as it was on the wire. */
export type TappedFrame = {
  readonly at: number;
  readonly dialect: string;
  readonly connection: ConnectionId;
  readonly direction: 'in' | 'out';
  readonly text: string;
};

type FrameObserver = {
  readonly key: string;
  readonly owner: PrincipalId;
  readonly by: Principal;
  see(f: TappedFrame): void;
};
/** A session, or all sessions of an owner. */
export type Place = SessionRef | PrincipalId;
type Watch = { readonly by: Principal; changed(place: Place): void };
type Subscription = {
  readonly dialect: string;
  readonly socket: Socket | null;
  /** by their keys */
  readonly places: Map<string, Place>;
};

/** A token in a frame is not for looking at. */
const TOKEN = /("(?:sessionToken|token|access_token)"\s*:\s*")[^"]*"/g;

export class ConnectionRegistry {
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #observers = new Set<FrameObserver>();
  readonly #watches = new Set<Watch>();

  constructor(private readonly now: () => number = Date.now) {}

  /** The socket sees the session, or all sessions of an owner. */
  attach(place: Place, dialect: string, socket: Socket): void {
    const subscription = this.#subscriptions.get(socket.id) ?? { dialect, socket, places: new Map() };
    subscription.places.set(keyOf(place), place);
    this.#subscriptions.set(socket.id, subscription);
    this.#tap(subscription);
    this.#changed(place);
  }

  /** The socket no longer sees it. */
  detach(place: Place, socket: Pick<Socket, 'id'>): void {
    const subscription = this.#subscriptions.get(socket.id);
    if (!subscription?.places.delete(keyOf(place))) return;
    this.#tap(subscription);
    this.#changed(place);
  }

  /** A reader that has no socket of its own. Returns what ends it. */
  attachReader(ref: SessionRef, dialect: string, id: string): () => void {
    this.#subscriptions.set(id, { dialect, socket: null, places: new Map([[keyOf(ref), ref]]) });
    this.#changed(ref);
    return () => this.#left(id);
  }

  leave(socket: Pick<Socket, 'id'>): void {
    this.#left(socket.id);
  }

  #left(id: string): void {
    const subscription = this.#subscriptions.get(id);
    this.#subscriptions.delete(id);
    for (const place of subscription?.places.values() ?? []) this.#changed(place);
  }

  #changed(place: Place): void {
    for (const { by, changed } of this.#watches)
      if (by.role === 'admin' || by.id === ownerOf(place)) changed(place);
  }

  /** `changed` is called when somebody has come to a session, or has left it, that the principal may see. */
  watch(by: Principal, changed: (place: Place) => void): () => void {
    const watch = { by, changed };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** How many are attached, by dialect. */
  of(ref: SessionRef): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const subscription of this.#subscriptions.values())
      if (sees(subscription, keyOf(ref), ref.owner))
        counts[subscription.dialect] = (counts[subscription.dialect] ?? 0) + 1;
    return counts;
  }

  /**
   * `see` is called with what passes on the sockets that are attached to the session, from now on. A socket that
   * carries sessions of someone else, too, is shown to admins alone.
   */
  observeFrames(ref: SessionRef, by: Principal, see: (frame: TappedFrame) => void): () => void {
    const observeFrames = { key: keyOf(ref), owner: ref.owner, by, see };
    this.#observers.add(observeFrames);
    for (const subscription of this.#subscriptions.values()) this.#tap(subscription);
    return () => {
      this.#observers.delete(observeFrames);
      for (const subscription of this.#subscriptions.values()) this.#tap(subscription);
    };
  }

  #tap(subscription: Subscription): void {
    const { socket, dialect } = subscription;
    if (!socket) return;
    const { id: connection } = socket;
    const mayObserve = (by: Principal) =>
      by.role === 'admin' || [...subscription.places.values()].every((place) => ownerOf(place) === by.id);
    const observers = [...this.#observers].filter(
      ({ key, owner, by }) => sees(subscription, key, owner) && mayObserve(by),
    );
    const pass: FrameTap = (direction, wire) => {
      const text = direction === 'in' ? wire.replace(TOKEN, '$1…"') : wire;
      const frame = { at: this.now(), dialect, connection, direction, text };
      for (const { see } of observers) see(frame);
    };
    socket.tap(observers.length > 0 ? pass : null);
  }
}

const ownerOf = (place: Place): PrincipalId => (typeof place === 'string' ? place : place.owner);

const keyOf = (place: Place): string =>
  typeof place === 'string' ? JSON.stringify([place]) : sessionKey(place);

const sees = ({ places }: Subscription, key: string, owner: PrincipalId): boolean =>
  places.has(key) || places.has(keyOf(owner));
