/** A connection to a server of models. It carries one exchange at a time, and belongs to one asker while it does. */
import type { Socket, SocketHandler } from 'bun';
import { AnswerReader } from './answer-reader.ts';
import { PushedBody, type Source } from './body.ts';
import type { HttpResponse } from './client.ts';
import { Decompression, decoderFor } from './decompression.ts';
import { HttpError } from './error.ts';

export type Origin = { readonly hostname: string; readonly port: number; readonly secure: boolean };

/** Whoever keeps connections is told what becomes of this one. */
export type Keeper = { idle(connection: Connection): void; closed(connection: Connection): void };

/** A proxy or a firewall forgets connections that are silent for minutes; a model may think as long. */
const KEEP_ALIVE_MS = 30_000;

type Exchange = {
  readonly reader: AnswerReader;
  readonly body: PushedBody;
  answered(answer: HttpResponse): void;
  failed(thrown: unknown): void;
  /** lets go of the signal */
  over(): void;
};

export class Connection implements Source {
  #socket: Socket<Connection> | null = null;
  #opening: { resolve(): void; reject(thrown: unknown): void } | null = null;
  #exchange: Exchange | null = null;
  #unsent: Uint8Array | null = null;
  #silent = true;

  private constructor(
    readonly origin: Origin,
    private readonly keeper: Keeper,
  ) {}

  /** Throws where nobody answers there, or cannot show that it is who it must be. */
  static async open(origin: Origin, keeper: Keeper, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    const { hostname, port, secure } = origin;
    const connection = new Connection(origin, keeper);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    connection.#opening = { resolve, reject };
    const abort = () => connection.#close(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const way = { hostname, port, tls: secure, data: connection, socket: EVENTS };
    try {
      Bun.connect<Connection>(way).catch(reject); // throws at once where this cannot be an address
      await promise;
      return connection;
    } finally {
      connection.#opening = null;
      signal.removeEventListener('abort', abort);
    }
  }

  /** Nothing of the answer to the last request was heard: it may be that it never arrived. */
  get silent(): boolean {
    return this.#silent;
  }

  /** Resolves with the head; the body follows. Throws where there is none, and when the signal is aborted. */
  ask(request: string, signal: AbortSignal): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const abort = () => this.#close(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const body = new PushedBody(this);
    this.#exchange = {
      reader: new AnswerReader(({ headers }) => {
        const decoder = decoderFor(headers);
        if (decoder) body.decompress((source, told) => new Decompression(decoder, source, told));
      }),
      body,
      answered: resolve,
      failed: reject,
      over: () => signal.removeEventListener('abort', abort),
    };
    this.#silent = true;
    if (signal.aborted) abort();
    else this.#send(request);
    return promise;
  }

  /** A connection that nobody uses does not keep the process alive, and is closed after a while. */
  rest(seconds: number): void {
    this.#socket?.timeout(seconds);
    this.#socket?.unref();
  }

  wake(): void {
    this.#socket?.timeout(0);
    this.#socket?.ref();
  }

  /** What the body wants of the socket. */
  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  abandon(): void {
    this.#close(null);
  }

  /** What the socket says. */
  opened(socket: Socket<Connection>): void {
    this.#socket = socket;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (!this.#opening)
      this.#close(null); // given up while it was being made
    else if (!this.origin.secure) this.#opening.resolve();
  }

  verified(trusted: boolean, cause: NodeJS.ErrnoException | null): void {
    if (trusted && !cause) this.#opening?.resolve();
    else this.#close(untrusted(cause));
  }

  received(bytes: Buffer): void {
    this.#silent = false;
    try {
      if (this.#exchange) this.#read(this.#exchange, bytes);
      else this.#close(null); // nothing was asked
    } catch (thrown) {
      this.#close(thrown);
    }
  }

  drained(): void {
    const unsent = this.#unsent;
    this.#unsent = null;
    if (unsent) this.#send(unsent);
  }

  closed(cause: unknown): void {
    const exchange = this.#exchange;
    this.#socket = null;
    try {
      exchange?.reader.close();
      // A connection that was reset is no end of an answer, even of one that lasts until the close.
      if (exchange && !cause) this.#finish(exchange);
      else this.#close(lost(cause));
    } catch {
      this.#close(lost(cause));
    }
  }

  #read(exchange: Exchange, bytes: Buffer): void {
    const { reader, body } = exchange;
    try {
      reader.read(bytes, body.push);
    } finally {
      body.flush();
    }
    const { head } = reader;
    reader.head = null; // handed over: an answer takes its time, and nobody asks for the head again
    if (head) exchange.answered({ ...head, body });
    if (reader.complete) this.#finish(exchange);
  }

  /** Text is written as it is: a large request is not copied unless the socket cannot take it at once. */
  #send(data: string | Uint8Array): void {
    const written = Math.max(0, this.#socket?.write(data) ?? 0);
    if (written === Buffer.byteLength(data)) return;
    this.#unsent = (typeof data === 'string' ? Buffer.from(data) : data).subarray(written);
  }

  #finish({ reader, body, over }: Exchange): void {
    over();
    this.#exchange = null;
    body.end({ kind: 'complete' });
    if (this.#socket && reader.reusable && !this.#unsent) this.keeper.idle(this);
    else this.#close(null);
  }

  /** Ends whatever is under way with what was thrown. */
  #close(thrown: unknown): void {
    const [socket, exchange] = [this.#socket, this.#exchange];
    this.#socket = null;
    this.#exchange = null;
    this.#unsent = null;
    this.#opening?.reject(thrown);
    this.#opening = null;
    exchange?.over();
    exchange?.failed(thrown);
    exchange?.body.end({ kind: 'broken', thrown });
    socket?.terminate();
    this.keeper.closed(this);
  }
}

const lost = (cause: unknown) => new HttpError('CONNECTION_LOST', 'The connection was lost.', { cause });

/** A handshake does not only fail for the certificate. */
function untrusted(cause: NodeJS.ErrnoException | null): HttpError {
  switch (cause?.code) {
    case 'ECONNRESET':
      return lost(cause);
    case 'EPROTO':
      return new HttpError('BAD_ANSWER', 'The other side does not speak TLS.', { cause });
    default:
      return new HttpError('BAD_CERTIFICATE', 'The certificate is not trusted.', { cause });
  }
}

/** One set of functions for all sockets. */
const EVENTS: SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, trusted, error) => socket.data.verified(trusted, error),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  timeout: (socket) => void socket.end(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  connectError: () => undefined, // the promise of `Bun.connect` is rejected, too
};
