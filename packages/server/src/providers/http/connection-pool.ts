/** Pool of idle connections: a handshake takes longer than the first token of many models. */
import type { HttpResponse } from './client.ts';
import { Connection, type ConnectionOwner, type Origin } from './connection.ts';
import { HttpError } from './error.ts';

/** Many servers close idle connections after a minute, some after a few seconds. */
const IDLE_SECONDS = 30;

export class ConnectionPool implements ConnectionOwner {
  readonly #idle = new Map<string, Connection[]>();

  /** Sends the request over an idle connection, or over a new one. */
  async ask(origin: Origin, request: string, signal: AbortSignal): Promise<HttpResponse> {
    const waiting = this.#idle.get(keyOf(origin))?.pop();
    if (waiting) {
      waiting.wake();
      try {
        return await waiting.ask(request, signal);
      } catch (thrown) {
        // The server closed the connection before it read the request: it is safe to send it again.
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
