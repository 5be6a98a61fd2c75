/**
 * Removed members that may still be in their sets, because the carrier was disconnected or has not responded
 * yet. Otherwise they would stay visible to other nodes until they expire.
 */
import type { RegistrySets } from './registry-sets.ts';

type Removed = { readonly key: string; readonly member: string; readonly at: number };

export class RemovedMembers {
  /** oldest first */
  readonly #removed = new Map<string, Removed>();

  constructor(
    private readonly sets: RegistrySets,
    private readonly expiryMs: number,
  ) {}

  remove(key: string, member: string): void {
    this.#forgetExpired();
    const removed = { key, member, at: this.sets.now() };
    this.#removed.set(JSON.stringify([key, member]), removed);
    void this.#try(removed);
  }

  /** Call after a connect, before entries are registered again. */
  removeAgain(): void {
    this.#forgetExpired();
    for (const removed of this.#removed.values()) void this.#try(removed);
  }

  async #try(removed: Removed): Promise<void> {
    const name = JSON.stringify([removed.key, removed.member]);
    if ((await this.sets.remove(removed.key, removed.member)) && this.#removed.get(name) === removed)
      this.#removed.delete(name);
  }

  #forgetExpired(): void {
    const expired = this.sets.now() - this.expiryMs;
    for (const [name, { at }] of this.#removed) {
      if (at > expired) return;
      this.#removed.delete(name);
    }
  }
}
