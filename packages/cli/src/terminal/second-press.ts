/** A key that does more when it is pressed twice, such as Ctrl-C. */

const AGAIN_MS = 2_000;

export class SecondPress {
  #at = Number.NEGATIVE_INFINITY;

  /** `expired` is called when the first press is over. */
  constructor(private readonly expired: () => void) {}

  /** A second press would count. */
  get isArmed(): boolean {
    return performance.now() - this.#at < AGAIN_MS;
  }

  /** True if it is the second one. */
  press(): boolean {
    const isSecond = this.isArmed;
    this.#at = performance.now();
    setTimeout(this.expired, AGAIN_MS);
    return isSecond;
  }
}
