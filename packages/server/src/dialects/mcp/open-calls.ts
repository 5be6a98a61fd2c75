/** Open calls, so that clients can cancel them. */
import type { PrincipalId } from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';
import type { RequestId } from '../kit/json-rpc.ts';

export type CallKey = {
  readonly principal: PrincipalId;
  /** Request ids are unique only within a session: without one, a call cannot be cancelled by its id. */
  readonly session: string | null;
  readonly request: RequestId;
};

/** The most cancelled calls that are remembered, because their clients may try to resume the streams. */
const MAX_CANCELLED = 1_000;

const nothing = () => undefined;

export class OpenCalls {
  readonly #calls = new Map<string, () => void>();
  readonly #cancelled = new LruMap<true>(MAX_CANCELLED);

  /** Returns a function that removes the call. */
  add(key: CallKey, cancel: () => void): () => void {
    if (key.session === null) return nothing;
    const name = nameOf(key);
    this.#calls.set(name, cancel);
    this.#cancelled.delete(name);
    return () => {
      if (this.#calls.get(name) === cancel) this.#calls.delete(name);
    };
  }

  /** False if the call has ended, or is not answered on this node. */
  cancel(key: CallKey): boolean {
    const cancel = this.#calls.get(nameOf(key));
    if (!cancel) return false;
    this.remember(key);
    cancel();
    return true;
  }

  /** Remembers that the call was cancelled. */
  remember(key: CallKey): void {
    this.#cancelled.set(nameOf(key), true);
  }

  /** A cancelled call gets no answer. */
  isCancelled(key: CallKey): boolean {
    return this.#cancelled.get(nameOf(key)) ?? false;
  }
}

const nameOf = ({ principal, session, request }: CallKey): string =>
  JSON.stringify([principal, session, request]);
