/**
 * A cheap keep-alive HTTP client: `fetch` uses as much CPU as the server, which would distort measurements on
 * a shared machine. For short responses with a content length.
 */
import type { Socket } from 'bun';

const HEAD_END = '\r\n\r\n';

type Waiting = { resolve(): void; reject(reason: Error): void };
type Line = { received: string; waiting: Waiting | null };

export class Asker {
  readonly #idle: Socket<Line>[] = [];
  readonly #all = new Set<Socket<Line>>();

  constructor(private readonly url: URL) {}

  /** Resolves when the response is complete; rejects if it is not a success. */
  async ask(method: 'POST' | 'DELETE', path: string, body = ''): Promise<void> {
    const line = this.#idle.pop() ?? (await this.#connect());
    const length = Buffer.byteLength(body);
    const request = `${method} ${path} HTTP/1.1\r\nhost: ${this.url.host}\r\ncontent-type: application/json\r\ncontent-length: ${length}${HEAD_END}${body}`;
    const answered = new Promise<void>((resolve, reject) => {
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
      data: { received: '', waiting: null },
      socket: {
        data: (socket, bytes) => this.#received(socket, bytes),
        close: (socket) => {
          this.#all.delete(socket);
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
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(line.received)?.[1] ?? 0);
    if (line.received.length < headEnd + HEAD_END.length + length) return;
    const { received, waiting } = line;
    line.received = '';
    line.waiting = null;
    this.#idle.push(socket);
    if (/^HTTP\/1\.1 2/.test(received)) waiting?.resolve();
    else waiting?.reject(new Error(`${this.url.origin} answered ${received}`));
  }
}
