/** A local server that sends scripted bytes and records requests. */
import type { Socket, TCPSocketListener, TLSOptions } from 'bun';

export type Request = {
  /** the request line */
  readonly first: string;
  readonly headers: Headers;
  readonly body: Buffer;
};

/** One connection, from the server's side. */
export class Visit {
  /** complete requests */
  readonly requests: Request[] = [];
  /** bytes that the socket has accepted */
  sent = 0;
  readonly #heard = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #head: Buffer = Buffer.alloc(0);
  #begun: Omit<Request, 'body'> | null = null;
  #body: Buffer[] = [];
  #missing = 0;
  #unsent: Uint8Array[] = [];
  #last = false;

  constructor(
    private readonly socket: Socket<Visit | null>,
    private readonly asked: (visit: Visit) => void,
  ) {}

  /** The first byte was received. */
  get heard(): Promise<void> {
    return this.#heard.promise;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  say(...all: (string | Uint8Array)[]): this {
    this.#unsent.push(...all.map((data) => Buffer.from(data as string)));
    this.drained();
    return this;
  }

  /** Closes the connection after everything was sent. */
  hangUp(): void {
    this.#last = true;
    this.drained();
  }

  received(bytes: Buffer): void {
    this.#heard.resolve();
    const body = this.#begun ? bytes : this.#begin(bytes);
    if (!body || !this.#begun) return;
    this.#body.push(Buffer.from(body));
    this.#missing -= body.length;
    if (this.#missing > 0) return;
    this.requests.push({ ...this.#begun, body: Buffer.concat(this.#body) });
    this.#begun = null;
    this.asked(this);
  }

  drained(): void {
    for (let next = this.#unsent[0]; next; next = this.#unsent[0]) {
      const written = Math.max(0, this.socket.write(next));
      this.sent += written;
      if (written < next.length) {
        this.#unsent[0] = next.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
    if (this.#last) this.socket.end();
  }

  ended(): void {
    this.#closed.resolve();
  }

  /** The bytes after the head; null until the head is complete. */
  #begin(bytes: Buffer): Buffer | null {
    const read = Buffer.concat([this.#head, bytes]);
    const end = read.indexOf('\r\n\r\n');
    this.#head = end === -1 ? read : Buffer.alloc(0);
    if (end === -1) return null;
    const [first = '', ...fields] = read.toString('latin1', 0, end).split('\r\n');
    const headers = new Headers(fields.map((field) => field.split(': ', 2) as [string, string]));
    this.#begun = { first, headers };
    this.#body = [];
    this.#missing = Number(headers.get('content-length'));
    return read.subarray(end + 4);
  }
}

export type Peer = {
  readonly port: number;
  readonly url: string;
  /** all connections, in order */
  readonly visits: readonly Visit[];
  /** Resolves with the last of this many connections. */
  visited(count: number): Promise<Visit>;
};

export type PeerOptions = {
  readonly hostname?: string;
  readonly tls?: TLSOptions;
  /** reads a little per event loop turn */
  readonly slow?: boolean;
  /** reads nothing */
  readonly deaf?: boolean;
  readonly opened?: (visit: Visit) => void;
};

const listeners: TCPSocketListener<Visit | null>[] = [];

/** Calls `asked` after each complete request, which is the last one of the visit. */
export function peer(asked: (visit: Visit) => void, options: PeerOptions = {}): Peer {
  const { hostname = '127.0.0.1', tls, slow, deaf, opened } = options;
  const visits: Visit[] = [];
  const arrivals: PromiseWithResolvers<Visit>[] = [];
  const arrival = (at: number) => (arrivals[at] ??= Promise.withResolvers());
  const listener = Bun.listen<Visit | null>({
    hostname,
    port: 0,
    tls,
    data: null,
    socket: {
      open(socket) {
        const visit = new Visit(socket, asked);
        socket.data = visit;
        if (deaf) socket.pause();
        arrival(visits.push(visit) - 1).resolve(visit);
        opened?.(visit);
      },
      handshake: () => undefined, // without it, `open` is called only after the handshake
      data(socket, bytes) {
        if (slow) {
          socket.pause();
          setImmediate(() => socket.resume());
        }
        socket.data?.received(bytes);
      },
      drain: (socket) => socket.data?.drained(),
      close: (socket) => socket.data?.ended(),
      error: (socket) => socket.data?.ended(),
    },
  });
  listeners.push(listener);
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return {
    port: listener.port,
    url: `${tls ? 'https' : 'http'}://${host}:${listener.port}`,
    visits,
    visited: (count) => arrival(count - 1).promise,
  };
}

/** After each test. */
export function closePeers(): void {
  for (const listener of listeners.splice(0)) listener.stop(true);
}

export const answer = (body: string, ...headers: readonly string[]): string =>
  ['HTTP/1.1 200 OK', `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');

/** The whole text of a body. */
export async function textOf(body: { read(): Promise<string | null> }): Promise<string> {
  const pieces: string[] = [];
  for (let piece = await body.read(); piece !== null; piece = await body.read()) pieces.push(piece);
  return pieces.join('');
}

/** Waits for event loop turns, in each of which sockets are read and written. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
