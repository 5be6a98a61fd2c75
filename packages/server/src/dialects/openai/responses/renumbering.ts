/**
 * Numbers of stream events after a step was restarted. What was shown of the step is not stored, so the log alone does not
 * tell how many events there were: the numbers with which streams went on are kept here, and a client that comes back after
 * a restart of the server tells its own by `starting_after`.
 */

const MOST_RESPONSES = 1_000;

export class Renumbering {
  /** by response, then by the event of the restart */
  readonly #known = new Map<string, Map<number, number>>();

  /** `startingAfter` is the last number that the reader has seen, -1 if it has seen none. */
  of(response: string, startingAfter = -1): (restartedAt: number, next: number) => number {
    return (restartedAt, next) => {
      const known = this.#known.get(response) ?? new Map<number, number>();
      const number = Math.max(next, known.get(restartedAt) ?? startingAfter + 1);
      known.set(restartedAt, number);
      this.#known.delete(response);
      this.#known.set(response, known);
      const [oldest] = this.#known.keys();
      if (this.#known.size > MOST_RESPONSES && oldest !== undefined) this.#known.delete(oldest);
      return number;
    };
  }
}
