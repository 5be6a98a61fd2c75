/** How often it is looked whether something was heard. */
const LOOKS = 4;

/** Tells when nothing was heard for `ms`, at the latest a quarter of that later. To hear costs no timer. */
export class Silence {
  #looks = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(ms: number, silent: () => void) {
    this.#timer = setInterval(() => {
      if (this.#looks++ === LOOKS) silent();
    }, ms / LOOKS);
  }

  /** On the path of a token. */
  heard(): void {
    this.#looks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
