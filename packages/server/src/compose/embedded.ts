/** A server without a port, for clients in the same process. */
import type { Hono } from 'hono';
import type { Config } from '../config/config.ts';
import { socketRouter } from '../dialects/shared/routes.ts';
import { rememberAddress } from '../http/client-address.ts';
import { type EmbeddedPeer, EmbeddedSockets, type InProcessSocket } from '../http/embedded-socket.ts';
import type { Backend } from './engine.ts';
import type { Front } from './front.ts';
import { resumeTurns } from './resume.ts';

export type { EmbeddedPeer } from '../http/embedded-socket.ts';

export type EmbeddedSocket = Pick<InProcessSocket, 'receive' | 'idle' | 'close'>;

export type EmbeddedServer = {
  /** Handles a request to a path such as `/v1/sessions`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Opens a socket at a path such as `/acp`. Throws if the path serves none. */
  connect(path: string, peer: EmbeddedPeer): EmbeddedSocket;
  /** Drains and closes everything. Turns that have not ended within `graceMs` resume at the next start. */
  stop(graceMs: number): Promise<void>;
};

export type EmbeddedParts = { readonly backend: Backend; readonly front: Front };

/** Host name in request URLs; nothing listens there. */
const ORIGIN = 'http://localhost';

/** Requests from this process, or from a socket that only this user can open: no origin is checked. */
export function localFetch(routes: Hono): EmbeddedServer['fetch'] {
  return async (path, init) => {
    const request = new Request(ORIGIN + path, init);
    rememberAddress(request, 'local');
    return routes.fetch(request);
  };
}

export function runEmbedded(
  config: Config,
  { backend, front }: EmbeddedParts,
  opened: AsyncDisposableStack,
): EmbeddedServer {
  const { engine, log } = backend;
  const { state, routes, readiness } = front;
  const router = socketRouter(state.served);
  const sockets = new EmbeddedSockets(config.maxFrame, log);
  readiness.serving();
  const resuming = resumeTurns(engine, log);
  return {
    fetch: localFetch(routes),
    connect(path, peer) {
      const target = router(new URL(path, ORIGIN), false);
      if (!target) throw new Error(`no socket is served at ${path}`);
      return sockets.open(target, peer);
    },
    async stop(graceMs) {
      readiness.draining();
      await engine.drain(graceMs);
      await resuming;
      sockets.drain();
      await opened.disposeAsync();
    },
  };
}
