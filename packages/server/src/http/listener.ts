/** One listening address. Rejects requests, upgrades them to sockets, or passes them to the routes. */
import type { Server } from 'bun';
import type { Log } from '../core/ports/telemetry.ts';
import type { Opening } from './dialect-socket.ts';
import { mustRead, rememberServer } from './idle-connections.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import type { Refusal } from './socket-counts.ts';
import type { SocketTransport } from './websocket.ts';

/** suggested delay before another attempt to open a socket */
const SOCKET_RETRY_SECONDS = 5;

/** Creates an error response. `path` has no query. */
export type Refuse = (
  refused: { readonly request: Request; readonly path: string },
  status: number,
  reason: string,
) => Response;

export type ListenOptions = {
  readonly hostname: string;
  readonly port: number;
  readonly sockets: SocketTransport;
  /** null to accept the request, otherwise the reason for the refusal */
  readonly admit: (request: Request) => string | null | Promise<string | null>;
  /** null if the path serves no socket */
  readonly opening: (request: Request, peer: string | undefined) => Promise<Opening | null>;
  /** `peer` is the address of the connection */
  readonly routes: (request: Request, peer: string | undefined) => Response | Promise<Response>;
  /** Creates a refusal in the error format of the path. */
  readonly refusal?: Refuse;
  /** logs every request, at level debug */
  readonly log?: Log;
  /** how long a connection may be silent, or a response unread */
  readonly idleSeconds?: number;
};

const refused = (reason: string, status: number): Response => Response.json(plainRefusal(reason), { status });

/** For paths without a contract. */
export const plainRefusal = (reason: string): object => ({ error: reason, detail: reason });

/** Before the upgrade: a client without a socket can read a status. */
const noPlace = ({ reason, status }: Refusal): Response =>
  Response.json(
    { error: reason, detail: reason, retryAfter: SOCKET_RETRY_SECONDS },
    { status, headers: { 'retry-after': String(SOCKET_RETRY_SECONDS) } },
  );

/** Without the query, which may contain a token. Without a usable Host header, the URL is only a path. */
const pathOf = (url: string): string => /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] ?? '';

/** Throws an error with code EADDRINUSE if the port is in use, even by another server of ours. */
export function listen(listening: ListenOptions): Server<unknown> {
  const { hostname, port, sockets, admit, opening, routes, log, idleSeconds = 120 } = listening;
  const { refusal: refuse = (_, status, reason) => refused(reason, status) } = listening;

  /** Undefined if it was upgraded to a socket. */
  async function answer(request: Request, server: Server<unknown>): Promise<Response | undefined> {
    const verdict = admit(request);
    const refusal = verdict instanceof Promise ? await verdict : verdict;
    if (refusal !== null) return refuse({ request, path: pathOf(request.url) }, 403, refusal);
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') {
      const peer = server.requestIP(request)?.address;
      // Without a Host header, which was admitted for health checks.
      const routed = request.url.startsWith('/')
        ? new Request(`http://${hostname}${request.url}`, request)
        : request;
      return routes(routed, peer);
    }
    const found = await opening(request, server.requestIP(request)?.address);
    if (!found) return refused('Not found', 404);
    const headers = {
      [REQUEST_ID_HEADER]: requestIdOf(request),
      ...(found.idHeader !== undefined && { [found.idHeader]: found.id }),
    };
    const place = sockets.enter(found);
    if ('refusal' in place) return noPlace(place.refusal);
    if (!server.upgrade(request, { data: place.data, headers })) {
      sockets.release(place.data);
      return refused('Not a WebSocket handshake', 400);
    }
    log?.debug({ request: requestIdOf(request), connection: found.id }, 'socket opened');
    return undefined;
  }

  return Bun.serve({
    hostname,
    port,
    // Otherwise Bun would share the port with other processes that also set it.
    reusePort: false,
    // Bun would answer a large body with an empty 413. `ReadBody` limits how much is read, and dialects
    // reject the rest in their own format; Bun pauses the connection until the body is read.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleSeconds,
    websocket: sockets.handler,
    // Prevents Bun's error page, which would expose source code.
    development: false,
    error(thrown) {
      log?.error({ err: thrown }, 'failed to handle request');
      return refused('Something went wrong.', 500);
    },
    async fetch(request, server) {
      const began = performance.now();
      const { method, url } = request;
      const id = requestIdOf(request);
      rememberServer(request, server);
      const response = await answer(request, server);
      mustRead(request, idleSeconds);
      response?.headers.set(REQUEST_ID_HEADER, id);
      // Do not wait for the rest of a late body.
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
