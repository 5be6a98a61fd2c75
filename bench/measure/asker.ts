/**
 * A cheap keep-alive HTTP client: `fetch` uses as much CPU as the server, which would distort measurements on
 * a shared machine. For short responses.
 */
import type { Socket } from 'bun';

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';
/** The first piece of text in a streamed answer of any of the model APIs. */
const FIRST_TEXT = /"(?:content|delta|text)": ?"[^"]/;

/** When the response was complete, and when the first text of a stream had arrived, on the clock of `performance.now`. */
export type Arrival = { readonly endedAt: number; readonly firstTextAt: number };
type Waiting = { resolve(arrival: Arrival): void; reject(reason: Error): void };
type Line = { received: string; firstTextAt: number | null; waiting: Waiting | null };

export class Asker {
  readonly #idle: Socket<Line>[] = [];
  readonly #all = new Set<Socket<Line>>();

  readonly #headers: string;

  constructor(
    private readonly url: URL,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#headers = Object.entries({ host: url.host, 'content-type': 'application/json', ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  }

  /** Resolves when the response is complete; rejects if it is not a success. */
  async ask(method: 'POST' | 'DELETE', path: string, body = ''): Promise<Arrival> {
    const line = this.#idle.pop() ?? (await this.#connect());
    const length = Buffer.byteLength(body);
    const request = `${method} ${path} HTTP/1.1\r\n${this.#headers}content-length: ${length}${HEAD_END}${body}`;
    const answered = new Promise<Arrival>((resolve, reject) => {
      line.data.waiting = { resolve, reject };
    });
    if (line.write(request) < Buffer.byteLength(request))
      throw new Error('the request was not written completely');
    return answered;
  }

  close(): void {
    for (const line of this.#all) line.end();
  }

  async #connect(): Promise<Socket<Line>> {
    const line = await Bun.connect<Line>({
      hostname: this.url.hostname,
      port: Number(this.url.port),
      data: { received: '', firstTextAt: null, waiting: null },
      socket: {
        data: (socket, bytes) => this.#received(socket, bytes),
        close: (socket) => {
          this.#all.delete(socket);
          // Servers close connections that were idle for some time.
          const idle = this.#idle.indexOf(socket);
          if (idle !== -1) this.#idle.splice(idle, 1);
          socket.data.waiting?.reject(new Error('the server closed the connection'));
        },
      },
    });
    line.setNoDelay(true);
    this.#all.add(line);
    return line;
  }

  #received(socket: Socket<Line>, bytes: Buffer): void {
    const line = socket.data;
    line.received += bytes.toString('latin1');
    const headEnd = line.received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    if (line.firstTextAt === null && FIRST_TEXT.test(line.received)) line.firstTextAt = performance.now();
    const length = /\r\ncontent-length: *(\d+)/i.exec(line.received)?.[1];
    const isComplete =
      length === undefined && /\r\ntransfer-encoding: *chunked/i.test(line.received)
        ? line.received.endsWith(LAST_CHUNK)
        : line.received.length >= headEnd + HEAD_END.length + Number(length ?? 0);
    if (!isComplete) return;
    const endedAt = performance.now();
    const { received, waiting, firstTextAt } = line;
    line.received = '';
    line.firstTextAt = null;
    line.waiting = null;
    this.#idle.push(socket);
    if (/^HTTP\/1\.1 2/.test(received)) waiting?.resolve({ endedAt, firstTextAt: firstTextAt ?? endedAt });
    else waiting?.reject(new Error(`answered ${received.slice(9, 12)}: ${received.slice(headEnd).trim()}`));
  }
}
