/** Connections that wait to be used again: a handshake takes longer than many a first word. */
import { Connection, type HttpAnswer, type Keeper, type Origin } from './connection.ts';
import { HttpError } from './error.ts';

/** Many servers close a connection that was silent for a minute, some after a few seconds; then it is gone at once. */
const IDLE_SECONDS = 30;

export class Connections {
  readonly #idle = new Map<string, Connection[]>();

  /** Asks on a connection that waits, or on a new one. */
  async ask(origin: Origin, request: string, signal: AbortSignal): Promise<HttpAnswer> {
    const key = `${origin.secure} ${origin.hostname} ${origin.port}`;
    const waiting = this.#idle.get(key)?.pop();
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
    const connection = await Connection.open(origin, this.#keeperOf(key), signal);
    return connection.ask(request, signal);
  }

  #keeperOf(key: string): Keeper {
    return {
      idle: (connection) => {
        const all = this.#idle.get(key);
        if (all) all.push(connection);
        else this.#idle.set(key, [connection]);
        connection.rest(IDLE_SECONDS);
      },
      closed: (connection) => {
        const left = this.#idle.get(key)?.filter((one) => one !== connection);
        if (left?.length) this.#idle.set(key, left);
        else this.#idle.delete(key);
      },
    };
  }
}
