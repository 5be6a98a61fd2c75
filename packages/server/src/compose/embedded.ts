/** A server without a port, for clients in the same process. */

import { type ConnectionId, LOCAL, type Principal } from '@parlance/protocol';
import type { Hono } from 'hono';
import type { Config } from '../config/config.ts';
import type { Log } from '../core/ports/telemetry.ts';
import { socketRouter } from '../dialects/kit/routes.ts';
import { rememberAddress } from '../http/client-address.ts';
import type { Connection, FrameTap, Socket } from '../http/connection.ts';
import { readFrame } from '../http/read-frame.ts';
import { ReceiveQueue } from '../http/receive-queue.ts';
import type { Backend } from './engine.ts';
import type { Gateway } from './gateway.ts';
import { resumeTurns } from './resume.ts';

export type EmbeddedSocket = Pick<InProcessSocket, 'receive' | 'idle' | 'close'>;

export type EmbeddedServer = {
  /** Handles a request to a path such as `/v1/sessions`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Opens a socket at a path such as `/acp`. Throws if the path serves none. */
  connect(path: string, peer: EmbeddedPeer): EmbeddedSocket;
  /** Drains and closes everything. Turns that have not ended within `graceMs` resume at the next start. */
  stop(graceMs: number): Promise<void>;
};

export type EmbeddedParts = { readonly backend: Backend; readonly gateway: Gateway };

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
  { backend, gateway }: EmbeddedParts,
  opened: AsyncDisposableStack,
): EmbeddedServer {
  const { engine, log } = backend;
  const { state, routes, readiness } = gateway;
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

// A socket between a dialect and a client in the same process.

/** The client side. */
export type EmbeddedPeer = {
  /** Called with each frame. Must limit its own buffer. */
  message(text: string): void;
  /** Called once, when the server closes the socket. */
  closed(code: number, reason: string): void;
};

type EmbeddedTarget = {
  readonly open: (socket: Socket) => Connection;
  readonly params: Readonly<Record<string, string>> | undefined;
};

class EmbeddedSockets {
  readonly #open = new Set<InProcessSocket>();

  constructor(
    private readonly frameBytes: number,
    private readonly log: Log,
  ) {}

  open({ open, params }: EmbeddedTarget, peer: EmbeddedPeer): InProcessSocket {
    const ended = () => this.#open.delete(socket);
    const { frameBytes, log } = this;
    const socket: InProcessSocket = new InProcessSocket(peer, { frameBytes, log, params, ended });
    this.#open.add(socket);
    socket.begin(open(socket));
    return socket;
  }

  /** Notifies every connection, then closes it. */
  drain(): void {
    for (const socket of this.#open) socket.drain();
  }
}

type SocketParts = Pick<EmbeddedTarget, 'params'> & {
  readonly frameBytes: number;
  readonly log: Log;
  readonly ended: () => void;
};

class InProcessSocket implements Socket {
  readonly id = crypto.randomUUID() as string as ConnectionId;
  readonly principal: Principal = LOCAL;
  readonly session = null;
  readonly params: SocketParts['params'];
  readonly #queue: ReceiveQueue;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #connection: Connection | null = null;
  #tap: FrameTap | null = null;
  #isOpen = true;

  constructor(
    private readonly peer: EmbeddedPeer,
    private readonly parts: SocketParts,
  ) {
    this.params = parts.params;
    this.#queue = new ReceiveQueue((err) => parts.log.error({ err }, 'failed to handle frame'));
  }

  get open(): boolean {
    return this.#isOpen;
  }

  begin(connection: Connection): void {
    this.#connection = connection;
    if (connection.opened) this.#queue.put(() => connection.opened?.());
  }

  /** Handles a frame of the client. False if too many are queued. */
  receive(raw: string | Buffer): boolean {
    const connection = this.#connection;
    if (!connection || !this.#isOpen) return true;
    this.#tap?.('in', String(raw));
    const read = readFrame(raw, this.parts.frameBytes, this.#decoder);
    const arrivedAt = Date.now();
    return 'frame' in read
      ? this.#queue.put(() => connection.receive(read.frame, arrivedAt), raw.length)
      : this.#queue.put(() => connection.onInvalidFrame(read.reason));
  }

  /** Resolves when all frames received so far have been handled. */
  idle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!this.#queue.put(resolve)) resolve();
    return promise;
  }

  setDialect(): void {
    // Not counted: there is only one client.
  }

  sendFrame(frame: object): void {
    this.send(JSON.stringify(frame));
  }

  send(text: string): void {
    if (!this.#isOpen) return;
    this.#tap?.('out', text);
    this.peer.message(text);
  }

  tap(observe: FrameTap | null): void {
    this.#tap = observe;
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.parts.ended();
    this.#connection?.closed([], code);
    this.peer.closed(code, reason);
  }

  drain(): void {
    this.#connection?.draining();
    this.close(1001, 'The server is shutting down');
  }
}
