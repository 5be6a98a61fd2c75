/** Checks per timeout. */
const CHECKS = 4;

/**
 * Idle timeout of a stream: calls `silent` if no bytes arrive for `ms`, or no events for `maxMs`, at most a quarter of `ms`
 * late. Resetting it is one assignment and starts no timer.
 */
export class Silence {
  #idleChecks = 0;
  #checksWithoutEvent = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(ms: number, silent: () => void, maxMs = Number.POSITIVE_INFINITY) {
    const max = Math.max(CHECKS, Math.ceil((maxMs * CHECKS) / ms));
    this.#timer = setInterval(() => {
      const isSilent = this.#idleChecks++ === CHECKS;
      if (this.#checksWithoutEvent++ === max || isSilent) silent();
    }, ms / CHECKS);
  }

  /** An event arrived, not only a keep-alive. Hot path: runs per token. */
  said(): void {
    this.#checksWithoutEvent = 0;
  }

  /** Bytes arrived. Hot path: runs per token. */
  received(): void {
    this.#idleChecks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
