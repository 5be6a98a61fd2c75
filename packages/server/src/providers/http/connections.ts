/** Connections that wait to be used again: a handshake takes longer than many a first word. */
import type { HttpResponse } from './client.ts';
import { Connection, type Keeper, type Origin } from './connection.ts';
import { HttpError } from './error.ts';

/** Many servers close a connection that was silent for a minute, some after a few seconds; then it is gone at once. */
const IDLE_SECONDS = 30;

export class Connections implements Keeper {
  readonly #idle = new Map<string, Connection[]>();

  /** Asks on a connection that waits, or on a new one. */
  async ask(origin: Origin, request: string, signal: AbortSignal): Promise<HttpResponse> {
    const waiting = this.#idle.get(keyOf(origin))?.pop();
    if (waiting) {
      waiting.wake();
      try {
        return await waiting.ask(request, signal);
      } catch (thrown) {
        // It was closed while the request was on its way, which then was not read.
        const missed = thrown instanceof HttpError && thrown.code === 'CONNECTION_LOST' && waiting.silent;
        if (!missed) throw thrown;
      }
    }
    const connection = await Connection.open(origin, this, signal);
    return connection.ask(request, signal);
  }

  idle(connection: Connection): void {
    const key = keyOf(connection.origin);
    const all = this.#idle.get(key);
    if (all) all.push(connection);
    else this.#idle.set(key, [connection]);
    connection.rest(IDLE_SECONDS);
  }

  closed(connection: Connection): void {
    const key = keyOf(connection.origin);
    const left = this.#idle.get(key)?.filter((one) => one !== connection);
    if (left?.length) this.#idle.set(key, left);
    else this.#idle.delete(key);
  }
}

const keyOf = ({ secure, hostname, port }: Origin): string => `${secure} ${hostname} ${port}`;
