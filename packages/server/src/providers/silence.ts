/** How often it is looked whether something was heard. */
const LOOKS = 4;

/**
 * Tells when nothing was heard for `ms`, or nothing said for `mostMs`, at the latest a quarter of `ms` later. To hear
 * costs no timer.
 */
export class Silence {
  #looks = 0;
  #unsaid = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(ms: number, silent: () => void, mostMs = Number.POSITIVE_INFINITY) {
    const most = Math.max(LOOKS, Math.ceil((mostMs * LOOKS) / ms));
    this.#timer = setInterval(() => {
      const isSilent = this.#looks++ === LOOKS;
      if (this.#unsaid++ === most || isSilent) silent();
    }, ms / LOOKS);
  }

  /** What was heard has a meaning: it is no mere sign of life. On the path of a token. */
  said(): void {
    this.#unsaid = 0;
  }

  /** On the path of a token. */
  heard(): void {
    this.#looks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
