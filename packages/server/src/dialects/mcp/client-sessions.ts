/** Subscriptions of the sessions of clients before 2026-07-28. */
import type { PrincipalId } from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';

const MAX_SESSIONS = 10_000;
const MAX_SUBSCRIPTIONS = 1_000;

export class ClientSessions {
  #sessions = new LruMap<Set<string>>(MAX_SESSIONS);
  readonly #ended = new EventTarget();

  begin(principal: PrincipalId, session: string): void {
    this.#sessions.set(nameOf(principal, session), new Set());
  }

  /** False if the session has too many subscriptions. */
  subscribe(principal: PrincipalId, session: string, uri: string): boolean {
    const uris = this.#sessions.get(nameOf(principal, session));
    if (!uris) return true;
    if (uris.size >= MAX_SUBSCRIPTIONS && !uris.has(uri)) return false;
    uris.add(uri);
    return true;
  }

  unsubscribe(principal: PrincipalId, session: string, uri: string): void {
    this.#sessions.get(nameOf(principal, session))?.delete(uri);
  }

  /** An unknown session may have subscribed before a restart, or on another node: it receives everything. */
  wants(principal: PrincipalId, session: string, uri: string): boolean {
    return this.#sessions.get(nameOf(principal, session))?.has(uri) ?? true;
  }

  /** Forgets all sessions. */
  forget(): void {
    this.#sessions = new LruMap(MAX_SESSIONS);
  }

  /** Calls `ended` when the client ends the session. Returns a function that stops it. */
  onEnd(principal: PrincipalId, session: string, ended: () => void): () => void {
    const name = nameOf(principal, session);
    this.#ended.addEventListener(name, ended);
    return () => this.#ended.removeEventListener(name, ended);
  }

  end(principal: PrincipalId, session: string): void {
    const name = nameOf(principal, session);
    this.#sessions.delete(name);
    this.#ended.dispatchEvent(new Event(name));
  }
}

const nameOf = (principal: PrincipalId, session: string): string => JSON.stringify([principal, session]);
