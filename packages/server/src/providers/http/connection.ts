/** HTTP/1.1 connection to a model API. It carries one exchange at a time. */
import type { Socket, SocketHandler } from 'bun';
import { BodyQueue } from './body.ts';
import type { HttpResponse } from './client.ts';
import { Decompression, decoderFor, type Source } from './decompression.ts';
import { HttpError } from './error.ts';
import { ResponseParser } from './response-parser.ts';

export type Origin = { readonly hostname: string; readonly port: number; readonly secure: boolean };

/** Notified when the connection becomes idle or is closed. */
export type ConnectionOwner = { idle(connection: Connection): void; closed(connection: Connection): void };

/** TCP keep-alive: proxies and firewalls drop connections that are silent for minutes, and a model may be as silent. */
const KEEP_ALIVE_MS = 30_000;

type Exchange = {
  readonly reader: ResponseParser;
  readonly body: BodyQueue;
  answered(answer: HttpResponse): void;
  failed(thrown: unknown): void;
  /** stops listening to the signal */
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
    private readonly keeper: ConnectionOwner,
  ) {}

  /** Throws if the server cannot be reached or its certificate is not trusted. */
  static async open(origin: Origin, keeper: ConnectionOwner, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    const { hostname, port, secure } = origin;
    const connection = new Connection(origin, keeper);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    connection.#opening = { resolve, reject };
    const abort = () => connection.#close(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const way = { hostname, port, tls: secure, data: connection, socket: EVENTS };
    try {
      Bun.connect<Connection>(way).catch(reject); // throws synchronously if this cannot be an address
      await promise;
      return connection;
    } finally {
      connection.#opening = null;
      signal.removeEventListener('abort', abort);
    }
  }

  /** Whether no byte of the response has arrived: the server may not have read the request. */
  get silent(): boolean {
    return this.#silent;
  }

  /** Resolves with status and headers; the body follows. Throws if there is no response, or the signal is aborted. */
  ask(request: string, signal: AbortSignal): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const abort = () => this.#close(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const body = new BodyQueue(this);
    this.#exchange = {
      reader: new ResponseParser(({ headers }) => {
        const decoder = decoderFor(headers);
        if (decoder) body.decompress((source, sink) => new Decompression(decoder, source, sink));
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

  /** An idle connection does not keep the process alive, and is closed after a timeout. */
  rest(seconds: number): void {
    this.#socket?.timeout(seconds);
    this.#socket?.unref();
  }

  wake(): void {
    this.#socket?.timeout(0);
    this.#socket?.ref();
  }

  /** Flow control, called by the body. */
  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  abandon(): void {
    this.#close(null);
  }

  /** Events of the socket. */
  opened(socket: Socket<Connection>): void {
    this.#socket = socket;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (!this.#opening)
      this.#close(null); // given up while it was opened
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
      else this.#close(null); // no request is pending
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
      // A reset does not complete a response, even one that lasts until the close.
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
    reader.head = null; // handed over: not kept for the length of the response
    if (head) exchange.answered({ ...head, body });
    if (reader.complete) this.#finish(exchange);
  }

  /** Writes text as it is: a large request is copied only if the socket cannot accept it immediately. */
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

  /** Ends pending requests with the error. */
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

/** A handshake can fail for reasons other than the certificate. */
function untrusted(cause: NodeJS.ErrnoException | null): HttpError {
  switch (cause?.code) {
    case 'ECONNRESET':
      return lost(cause);
    case 'EPROTO':
      return new HttpError('BAD_ANSWER', 'The server does not support TLS.', { cause });
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
