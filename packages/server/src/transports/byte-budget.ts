/** Bytes that all peers of one kind together may have us hold. */
export class ByteBudget {
  #held = 0;

  constructor(private readonly most: number) {}

  get held(): number {
    return this.#held;
  }

  /** False if they do not fit; nothing is taken then. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.most) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}

export type ByteBudgets = { readonly anonymous: ByteBudget; readonly identified: ByteBudget };
