/** Those who want to know that something has changed. */
export class Followers {
  readonly #followers = new Set<{ readonly changed: () => void }>();

  get size(): number {
    return this.#followers.size;
  }

  /** Returns what ends it. */
  add(changed: () => void): () => void {
    const follower = { changed };
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  tell(): void {
    for (const { changed } of [...this.#followers]) changed();
  }

  clear(): void {
    this.#followers.clear();
  }
}
