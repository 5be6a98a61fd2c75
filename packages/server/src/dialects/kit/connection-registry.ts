/** Which connections are subscribed to which sessions, by dialect; observers can read their frames. */

import type { Principal, PrincipalId } from '@parlance/protocol';
import type { TappedFrame as FrameOfSocket } from '@parlance/sdk';
import { type SessionRef, sessionKey } from '../../core/index.ts';
import type { FrameTap, Subscriber } from '../../http/connection.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';

/** One frame as sent or received. */
export type TappedFrame = Omit<FrameOfSocket, 'type'>;

type FrameObserver = {
  readonly key: string;
  readonly owner: PrincipalId;
  readonly by: Principal;
  see(f: TappedFrame): void;
};
/** A session, or all sessions of an owner. */
export type WatchScope = SessionRef | PrincipalId;
type Watch = { readonly by: Principal; changed(scope: WatchScope): void };
type Subscription = {
  readonly dialect: string;
  readonly subscriber: Subscriber;
  /** by key */
  readonly scopes: Map<string, WatchScope>;
};

/** Tokens and API keys in frames are hidden from observers. */
const TOKEN = /("(?:sessionToken|token|access_token)"\s*:\s*")[^"]*(?=")|(plk_[0-9A-Za-z]{16}_)[0-9A-Za-z]+/g;

export class ConnectionRegistry {
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #observers = new Set<FrameObserver>();
  readonly #watches = new Set<Watch>();

  constructor(private readonly now: () => number = SYSTEM_CLOCK.now) {}

  /** Records that the subscriber receives the session, or all sessions of the owner. */
  attach(scope: WatchScope, dialect: string, subscriber: Subscriber): void {
    const subscription = this.#subscriptions.get(subscriber.id) ?? { dialect, subscriber, scopes: new Map() };
    subscription.scopes.set(keyOf(scope), scope);
    this.#subscriptions.set(subscriber.id, subscription);
    this.#tap(subscription);
    this.#changed(scope);
  }

  detach(scope: WatchScope, { id }: Pick<Subscriber, 'id'>): void {
    const subscription = this.#subscriptions.get(id);
    if (!subscription?.scopes.delete(keyOf(scope))) return;
    this.#tap(subscription);
    this.#changed(scope);
  }

  leave({ id }: Pick<Subscriber, 'id'>): void {
    const subscription = this.#subscriptions.get(id);
    this.#subscriptions.delete(id);
    for (const scope of subscription?.scopes.values() ?? []) this.#changed(scope);
  }

  #changed(scope: WatchScope): void {
    for (const { by, changed } of this.#watches)
      if (by.role === 'admin' || by.id === ownerOf(scope)) changed(scope);
  }

  /** Calls `changed` when a subscriber joins or leaves a session that the principal may see. */
  watch(by: Principal, changed: (scope: WatchScope) => void): () => void {
    const watch = { by, changed };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** The number of subscribers of the session, by dialect. */
  of(ref: SessionRef): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const subscription of this.#subscriptions.values())
      if (sees(subscription, keyOf(ref), ref.owner))
        counts[subscription.dialect] = (counts[subscription.dialect] ?? 0) + 1;
    return counts;
  }

  /**
   * Calls `see` with each frame of the connections that are subscribed to the session. A connection that also
   * carries sessions of another user is visible to admins only.
   */
  observeFrames(ref: SessionRef, by: Principal, see: (frame: TappedFrame) => void): () => void {
    const observer = { key: keyOf(ref), owner: ref.owner, by, see };
    this.#observers.add(observer);
    for (const subscription of this.#subscriptions.values()) this.#tap(subscription);
    return () => {
      this.#observers.delete(observer);
      for (const subscription of this.#subscriptions.values()) this.#tap(subscription);
    };
  }

  #tap(subscription: Subscription): void {
    const { subscriber, dialect } = subscription;
    if (!subscriber.tap) return;
    const { id: connection } = subscriber;
    const mayObserve = (by: Principal) =>
      by.role === 'admin' || [...subscription.scopes.values()].every((scope) => ownerOf(scope) === by.id);
    const observers = [...this.#observers].filter(
      ({ key, owner, by }) => sees(subscription, key, owner) && mayObserve(by),
    );
    const observe: FrameTap = (direction, wire) => {
      const text = direction === 'in' ? wire.replace(TOKEN, '$1$2…') : wire;
      const frame = { at: this.now(), dialect, connection, direction, text };
      for (const { see } of observers) see(frame);
    };
    subscriber.tap(observers.length > 0 ? observe : null);
  }
}

const ownerOf = (scope: WatchScope): PrincipalId => (typeof scope === 'string' ? scope : scope.owner);

const keyOf = (scope: WatchScope): string =>
  typeof scope === 'string' ? JSON.stringify([scope]) : sessionKey(scope);

const sees = ({ scopes }: Subscription, key: string, owner: PrincipalId): boolean =>
  scopes.has(key) || scopes.has(keyOf(owner));
