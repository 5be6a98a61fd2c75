/**
 * Handles the frames of a socket one at a time. Frames that were read are handled even after the socket has
 * closed.
 */
type Work = () => void | Promise<void>;

type Waiting = { readonly work: Work; readonly bytes: number; readonly done: (() => void) | undefined };

export class ReceiveQueue {
  readonly #waiting: Waiting[] = [];
  #bytes = 0;
  #busy = false;

  constructor(
    private readonly failed: (thrown: unknown) => void,
    /** limits of the queue; frames beyond them are refused */
    private readonly limits = { frames: 1_000, bytes: 16 * 1024 * 1024 },
  ) {}

  /** False, without accepting the frame, if the queue is full. `done` is called after it has been handled. */
  put(work: Work, bytes = 0, done?: () => void): boolean {
    const { limits } = this;
    if (this.#busy && (this.#waiting.length >= limits.frames || this.#bytes + bytes > limits.bytes))
      return false;
    this.#waiting.push({ work, bytes, done });
    this.#bytes += bytes;
    if (!this.#busy) void this.#empty();
    return true;
  }

  async #empty(): Promise<void> {
    this.#busy = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      this.#bytes -= next.bytes;
      try {
        const handled = next.work();
        if (handled) await handled;
      } catch (thrown) {
        this.failed(thrown);
      }
      next.done?.();
    }
    this.#busy = false;
  }
}
