/** Bytes that all peers of one kind together may have us hold, and each of them a share of it. */
export class ByteBudget {
  #held = 0;
  readonly #owners = new Map<string, number>();

  constructor(
    private readonly most: number,
    /** what one owner may have us hold */
    private readonly share = most,
  ) {}

  get held(): number {
    return this.#held;
  }

  /** False if they do not fit; nothing is taken then. */
  take(bytes: number, owner: string): boolean {
    const owned = (this.#owners.get(owner) ?? 0) + bytes;
    if (this.#held + bytes > this.most || owned > this.share) return false;
    this.#held += bytes;
    if (owned > 0) this.#owners.set(owner, owned);
    return true;
  }

  giveBack(bytes: number, owner: string): void {
    this.#held -= bytes;
    const owned = (this.#owners.get(owner) ?? 0) - bytes;
    if (owned > 0) this.#owners.set(owner, owned);
    else this.#owners.delete(owner);
  }
}

export type ByteBudgets = { readonly anonymous: ByteBudget; readonly identified: ByteBudget };

/**
 * One address cannot use up the anonymous budget: it has a sixteenth of it, and at least room for four of the largest
 * bodies.
 */
export const anonymousBudget = (bytes: number, largestBody: number): ByteBudget =>
  new ByteBudget(bytes, Math.max(Math.floor(bytes / 16), 4 * largestBody));
