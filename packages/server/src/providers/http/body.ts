/** What is read of an answer. The reader of a `ReadableStream` is one, too. */
export interface Body {
  read(): Promise<Read>;
  /** Nothing more is wanted. */
  cancel(): Promise<void>;
}

export type Read = { readonly done: boolean; readonly value?: Uint8Array };

/** So much may wait to be read before the other side is asked to pause. */
const MOST_WAITING = 1024 * 1024;

/** The socket's side of it: told when to pause, to go on, and that nobody reads any more. */
export type Source = { pause(): void; resume(): void; abandon(): void };

type Pending = { resolve(read: Read): void; reject(thrown: unknown): void };
type End = { readonly kind: 'complete' } | { readonly kind: 'broken'; readonly thrown: unknown };

/** A queue between a socket that pushes and one reader that pulls. */
export class PushedBody implements Body {
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #paused = false;
  #pending: Pending | null = null;
  #end: End | null = null;

  constructor(private readonly source: Source) {}

  push(value: Uint8Array): void {
    const pending = this.#pending;
    if (pending) {
      this.#pending = null;
      pending.resolve({ done: false, value });
      return;
    }
    this.#waiting.push(value);
    this.#bytes += value.length;
    if (this.#paused || this.#bytes <= MOST_WAITING) return;
    this.#paused = true;
    this.source.pause();
  }

  /** What was pushed before can still be read. */
  end(end: End): void {
    this.#end ??= end;
    const pending = this.#pending;
    this.#pending = null;
    if (!pending) return;
    if (end.kind === 'complete') pending.resolve({ done: true });
    else pending.reject(end.thrown);
  }

  read(): Promise<Read> {
    const value = this.#waiting.shift();
    if (value) {
      this.#take(value.length);
      return Promise.resolve({ done: false, value });
    }
    if (this.#end?.kind === 'complete') return Promise.resolve({ done: true });
    if (this.#end) return Promise.reject(this.#end.thrown);
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  async cancel(): Promise<void> {
    const open = this.#end === null;
    this.#waiting.length = 0;
    this.end({ kind: 'complete' });
    if (open) this.source.abandon();
  }

  #take(bytes: number): void {
    this.#bytes -= bytes;
    if (!this.#paused || this.#bytes > MOST_WAITING / 2) return;
    this.#paused = false;
    this.source.resume();
  }
}
