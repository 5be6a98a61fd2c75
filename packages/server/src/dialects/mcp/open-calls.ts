/** The calls that are being answered, so that clients can take them back. */
import type { PrincipalId } from '@parlance/protocol';
import type { RequestId } from './json-rpc.ts';

export type CallKey = {
  readonly principal: PrincipalId;
  readonly session: string | null;
  readonly request: RequestId;
};

export class OpenCalls {
  readonly #calls = new Map<string, () => void>();

  /** Returns what removes it. */
  add(key: CallKey, cancel: () => void): () => void {
    const name = nameOf(key);
    this.#calls.set(name, cancel);
    return () => {
      if (this.#calls.get(name) === cancel) this.#calls.delete(name);
    };
  }

  /** Does nothing if the call is over. */
  cancel(key: CallKey): void {
    this.#calls.get(nameOf(key))?.();
  }
}

const nameOf = ({ principal, session, request }: CallKey): string =>
  JSON.stringify([principal, session, request]);
