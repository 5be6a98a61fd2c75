/** Runs asynchronous work one at a time, in call order. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  /** Rejects if `work` rejects; later work still runs. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#tail.then(work);
    this.#tail = run.catch(() => undefined);
    return run;
  }

  /** Resolves when all previously queued work is done. */
  async settled(): Promise<void> {
    await this.#tail;
  }
}
