/** The frames of one socket, handled one after another. What was read is handled even if the socket is gone. */
export class Inbox {
  #waiting: (() => void | Promise<void>)[] = [];
  #busy = false;

  constructor(
    private readonly failed: (thrown: unknown) => void,
    /** frames that may wait; one more is refused */
    private readonly limit = 1_000,
  ) {}

  /** False where the inbox is full: the frame was not taken. */
  put(work: () => void | Promise<void>): boolean {
    if (this.#waiting.length >= this.limit) return false;
    this.#waiting.push(work);
    if (!this.#busy) void this.#empty();
    return true;
  }

  async #empty(): Promise<void> {
    this.#busy = true;
    for (let work = this.#waiting.shift(); work; work = this.#waiting.shift()) {
      try {
        const handled = work();
        if (handled) await handled;
      } catch (thrown) {
        this.failed(thrown);
      }
    }
    this.#busy = false;
  }
}
