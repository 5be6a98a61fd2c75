/** A WebSocket client for tests: waits for frames by content, never by time. */
import { within } from './until.ts';

export type AnyFrame = Record<string, unknown> & { type: string };

type Waiter = { readonly wanted: (frame: AnyFrame) => boolean; readonly take: (frame: AnyFrame) => void };

export class TestClient {
  /** everything received, in order */
  readonly frames: AnyFrame[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #read = 0;
  #waiter: (Waiter & { reject: (error: Error) => void }) | null = null;
  #ended: string | null = null;

  private constructor(readonly socket: WebSocket) {
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
    this.closed = promise;
    socket.onmessage = (message) => {
      this.frames.push(JSON.parse(String(message.data)));
      this.#look();
    };
    socket.onclose = ({ code, reason }) => {
      resolve({ code, reason });
      this.#ended = `closed with ${code} ${reason}`;
      this.#look();
    };
  }

  static async connect(url: string, headers: Record<string, string> = {}): Promise<TestClient> {
    const socket = new WebSocket(url, { headers } as never);
    const client = new TestClient(socket);
    const opened = Promise.withResolvers<void>();
    socket.onopen = () => opened.resolve();
    socket.onerror = () => opened.reject(new Error(`cannot connect to ${url}`));
    await within(opened.promise, `no connection to ${url}`);
    return client;
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** The next unread frame that matches; frames before it count as read. Rejects if the socket closes first. */
  next(wanted: string | ((frame: AnyFrame) => boolean)): Promise<AnyFrame> {
    const test = typeof wanted === 'string' ? (frame: AnyFrame) => frame.type === wanted : wanted;
    const { promise, resolve, reject } = Promise.withResolvers<AnyFrame>();
    const label = typeof wanted === 'string' ? wanted : 'a frame';
    this.#waiter = { wanted: test, take: resolve, reject };
    this.#look();
    return within(promise, () => `no ${label} came; last frames: ${this.#tail()}`);
  }

  /** All unread frames up to and including the first match. */
  async until(wanted: string | ((frame: AnyFrame) => boolean)): Promise<AnyFrame[]> {
    const from = this.#read;
    await this.next(wanted);
    return this.frames.slice(from, this.#read);
  }

  close(): void {
    this.socket.close();
  }

  #look(): void {
    while (this.#waiter && this.#read < this.frames.length) {
      const frame = this.frames[this.#read++] as AnyFrame;
      if (!this.#waiter.wanted(frame)) continue;
      const { take } = this.#waiter;
      this.#waiter = null;
      take(frame);
    }
    if (this.#ended !== null) this.#waiter?.reject(new Error(`${this.#ended}; last frames: ${this.#tail()}`));
  }

  #tail(): string {
    return this.frames
      .slice(-5)
      .map((frame) => JSON.stringify(frame).slice(0, 200))
      .join('\n');
  }
}
