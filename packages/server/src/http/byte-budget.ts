/** Limits the bytes buffered for all peers of one kind, and for each of them. */
export class ByteBudget {
  #held = 0;
  readonly #owners = new Map<string, number>();

  constructor(
    private readonly max: number,
    /** limit per owner */
    private readonly share = max,
  ) {}

  get held(): number {
    return this.#held;
  }

  /** False, without taking anything, if the bytes do not fit. */
  take(bytes: number, owner: string): boolean {
    const owned = (this.#owners.get(owner) ?? 0) + bytes;
    if (this.#held + bytes > this.max || owned > this.share) return false;
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

/** Limits each address to a sixteenth of the anonymous budget, but at least four of the largest bodies. */
export const anonymousBudget = (bytes: number, largestBody: number): ByteBudget =>
  new ByteBudget(bytes, Math.max(Math.floor(bytes / 16), 4 * largestBody));
