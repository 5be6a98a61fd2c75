/** A socket between a dialect and a client in the same process. */
import { type ConnectionId, LOCAL, type Principal } from '@parlance/protocol';
import type { Log } from '../core/ports/logger.ts';
import type { Connection, FrameTap, Socket } from './connection.ts';
import { readFrame } from './read-frame.ts';
import { ReceiveQueue } from './receive-queue.ts';

/** The client side. */
export type EmbeddedPeer = {
  /** Called with each frame. Must limit its own buffer. */
  message(text: string): void;
  /** Called once, when the server closes the socket. */
  closed(code: number, reason: string): void;
};

export type EmbeddedTarget = {
  readonly open: (socket: Socket) => Connection;
  readonly params: Readonly<Record<string, string>> | undefined;
};

export class EmbeddedSockets {
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

export class InProcessSocket implements Socket {
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
