/** The streams of notifications, so that they can be ended with a last message when the server stops. */
export class OpenStreams {
  readonly #ends = new Set<() => void>();

  /** Returns what removes it. */
  add(end: () => void): () => void {
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}
