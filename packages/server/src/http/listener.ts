/** HTTP: one listening address. Requests are admitted or not, become sockets, or go to the routes. */
import type { Server } from 'bun';
import type { Log } from '../core/ports/logger.ts';
import type { Opening } from './dialect-socket.ts';
import { rememberServer } from './idle-connections.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import type { Refusal } from './socket-counts.ts';
import type { SocketTransport } from './websocket.ts';

/** when a place for a socket may be free */
const SOCKET_RETRY_SECONDS = 5;

/** How a request is refused. `path` is without the query. */
export type Refusing = (
  refused: { readonly request: Request; readonly path: string },
  status: number,
  reason: string,
) => Response;

export type Listening = {
  readonly hostname: string;
  readonly port: number;
  readonly sockets: SocketTransport;
  /** null: come in; otherwise why not */
  readonly admit: (request: Request) => string | null | Promise<string | null>;
  /** null if no socket is served at that path */
  readonly opening: (request: Request, peer: string | undefined) => Promise<Opening | null>;
  /** `peer` is the address of the connection */
  readonly routes: (request: Request, peer: string | undefined) => Response | Promise<Response>;
  /** A refusal in the error format of that path. */
  readonly refusal?: Refusing;
  /** receives every request, at level debug */
  readonly log?: Log;
};

const refused = (reason: string, status: number): Response => Response.json(plainRefusal(reason), { status });

/** For paths that no contract has a shape for. */
export const plainRefusal = (reason: string): object => ({ error: reason, detail: reason });

/** Before the upgrade: a client that has no socket yet reads a status. */
const noPlace = ({ reason, status }: Refusal): Response =>
  Response.json(
    { error: reason, detail: reason, retryAfter: SOCKET_RETRY_SECONDS },
    { status, headers: { 'retry-after': String(SOCKET_RETRY_SECONDS) } },
  );

/** Without the query, which may hold a token. An address without a usable Host is a path, and no URL. */
const pathOf = (url: string): string => /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] ?? '';

/** Throws an error with code EADDRINUSE if the port is in use, even by another server of ours. */
export function listen(listening: Listening): Server<unknown> {
  const { hostname, port, sockets, admit, opening, routes, log } = listening;
  const { refusal: refuse = (_, status, reason) => refused(reason, status) } = listening;

  /** Undefined if it was upgraded to a socket. */
  async function answer(request: Request, server: Server<unknown>): Promise<Response | undefined> {
    const verdict = admit(request);
    const refusal = verdict instanceof Promise ? await verdict : verdict;
    if (refusal !== null) return refuse({ request, path: pathOf(request.url) }, 403, refusal);
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
      return routes(request, server.requestIP(request)?.address);
    const found = await opening(request, server.requestIP(request)?.address);
    if (!found) return refused('Not found', 404);
    const headers = { [REQUEST_ID_HEADER]: requestIdOf(request) };
    const place = sockets.enter(found);
    if ('refusal' in place) return noPlace(place.refusal);
    if (!server.upgrade(request, { data: place.data, headers })) {
      sockets.release(place.data);
      return refused('Not a WebSocket handshake', 400);
    }
    log?.debug({ request: requestIdOf(request), connection: found.id }, 'a socket was opened');
    return undefined;
  }

  return Bun.serve({
    hostname,
    port,
    // Without `development`, Bun would share the port with other processes that share it.
    reusePort: false,
    // Bun would refuse a large body with an empty 413. `ReadBody` bounds what is read, and dialects refuse the rest in their
    // own format; until a body is read, Bun pauses its connection.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 120,
    websocket: sockets.handler,
    // Otherwise Bun's error page would show source code to the client.
    development: false,
    error(thrown) {
      log?.error({ err: thrown }, 'a request could not be handled');
      return refused('Something went wrong.', 500);
    },
    async fetch(request, server) {
      const began = performance.now();
      const { method, url } = request;
      const id = requestIdOf(request);
      rememberServer(request, server);
      const response = await answer(request, server);
      response?.headers.set(REQUEST_ID_HEADER, id);
      // The rest of a late body is not awaited.
      if (response?.status === 408) response.headers.set('connection', 'close');
      log?.debug(
        {
          request: id,
          method,
          path: pathOf(url).slice(0, 200),
          status: response?.status ?? 101,
          ms: Math.round((performance.now() - began) * 1000) / 1000,
        },
        'request',
      );
      return response;
    },
  });
}
