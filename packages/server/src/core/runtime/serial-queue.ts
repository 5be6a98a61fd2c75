/** Runs asynchronous work one after another, in the order of the calls. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  /** Rejects if `work` does; what comes after it still runs. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#tail.then(work);
    this.#tail = run.catch(() => undefined);
    return run;
  }

  /** Resolves when all work that was queued before is done. */
  async settled(): Promise<void> {
    await this.#tail;
  }
}
