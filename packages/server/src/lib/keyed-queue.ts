/** Runs work with the same key one after another, in order of submission. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    const tail: Promise<void> = result.then(
      () => this.#done(key, tail),
      () => this.#done(key, tail),
    );
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when all work submitted earlier with this key is done. */
  async settled(key: string): Promise<void> {
    await this.#tails.get(key);
  }

  #done(key: string, tail: Promise<unknown>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}
