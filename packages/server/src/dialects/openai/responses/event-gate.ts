/** Passes events on in order, and holds them back until something is stored. */
export class EventGate<Event> {
  #held: Event[] = [];
  #waiting = 0;
  /** Resolves when nothing is held back. */
  idle: Promise<void> = Promise.resolve();

  constructor(private readonly pass: (event: Event) => void) {}

  send(event: Event): void {
    if (this.#waiting > 0) this.#held.push(event);
    else this.pass(event);
  }

  /** Holds events back until the promise has settled. */
  holdUntil(stored: Promise<void>): void {
    this.#waiting++;
    const release = () => {
      this.#waiting--;
      if (this.#waiting === 0) for (const event of this.#held.splice(0)) this.pass(event);
    };
    this.idle = Promise.all([this.idle, stored.then(release, release)]).then(() => undefined);
  }
}
