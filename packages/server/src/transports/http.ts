/** HTTP: one listening address. Requests are admitted or not, become sockets, or go to the routes. */
import type { Server } from 'bun';
import type { Opening, SocketTransport } from './websocket.ts';

/** Larger bodies are refused before they are read. */
const MAX_BODY_BYTES = 11 * 1024 * 1024;

export type Listening = {
  readonly hostname: string;
  readonly port: number;
  readonly sockets: SocketTransport;
  /** null: come in; otherwise why not */
  readonly admit: (request: Request) => string | null;
  /** null where no socket is served at that path */
  readonly opening: (request: Request) => Promise<Opening | null>;
  /** `peer` is the address of whoever holds the connection */
  readonly routes: (request: Request, peer: string | undefined) => Response | Promise<Response>;
};

export function listen({ hostname, port, sockets, admit, opening, routes }: Listening): Server<unknown> {
  return Bun.serve({
    hostname,
    port,
    maxRequestBodySize: MAX_BODY_BYTES,
    idleTimeout: 120,
    websocket: sockets.handler,
    async fetch(request, server) {
      const refusal = admit(request);
      if (refusal !== null) return Response.json({ error: refusal, detail: refusal }, { status: 403 });
      if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
        return routes(request, server.requestIP(request)?.address);
      const found = await opening(request);
      if (!found) return Response.json({ error: 'Not found', detail: 'Not found' }, { status: 404 });
      if (server.upgrade(request, { data: sockets.data(found) })) return undefined;
      return Response.json(
        { error: 'Not a WebSocket handshake', detail: 'Not a WebSocket handshake' },
        { status: 400 },
      );
    },
  });
}
