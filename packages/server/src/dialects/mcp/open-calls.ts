/** The calls that are being answered, so that clients can cancel them. */
import type { PrincipalId } from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';
import type { RequestId } from './json-rpc.ts';

export type CallKey = {
  readonly principal: PrincipalId;
  /** Request ids are unique in a session only: without one, a call cannot be cancelled by its id. */
  readonly session: string | null;
  readonly request: RequestId;
};

/** How many cancelled calls are remembered: their clients may try to resume the streams. */
const MOST_CANCELLED = 1_000;

const nothing = () => undefined;

export class OpenCalls {
  readonly #calls = new Map<string, () => void>();
  readonly #cancelled = new LruMap<true>(MOST_CANCELLED);

  /** Returns a function that removes it. */
  add(key: CallKey, cancel: () => void): () => void {
    if (key.session === null) return nothing;
    const name = nameOf(key);
    this.#calls.set(name, cancel);
    this.#cancelled.delete(name);
    return () => {
      if (this.#calls.get(name) === cancel) this.#calls.delete(name);
    };
  }

  /** False if the call is over, or is not answered here. */
  cancel(key: CallKey): boolean {
    const cancel = this.#calls.get(nameOf(key));
    if (!cancel) return false;
    this.remember(key);
    cancel();
    return true;
  }

  /** The call was cancelled. */
  remember(key: CallKey): void {
    this.#cancelled.set(nameOf(key), true);
  }

  /** Such a call gets no answer. */
  isCancelled(key: CallKey): boolean {
    return this.#cancelled.get(nameOf(key)) ?? false;
  }
}

const nameOf = ({ principal, session, request }: CallKey): string =>
  JSON.stringify([principal, session, request]);
