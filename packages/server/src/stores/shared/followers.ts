/** Listeners for changes. */
export class Followers {
  readonly #followers = new Set<{ readonly changed: () => void }>();

  get size(): number {
    return this.#followers.size;
  }

  /** Returns the unsubscribe function. */
  add(changed: () => void): () => void {
    const follower = { changed };
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  notify(): void {
    for (const { changed } of [...this.#followers]) changed();
  }

  clear(): void {
    this.#followers.clear();
  }
}
