/** Who is being driven: one driver per session, a bounded number at once, the rest in order of arrival. */
import type { LiveSession } from './live-session.ts';

/** Must not reject. */
export type Drive = (session: LiveSession, stopping: () => boolean) => Promise<void>;

export class RunQueue {
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: LiveSession[] = [];
  #stopping = false;

  constructor(
    private readonly drive: Drive,
    private readonly hasWork: (session: LiveSession) => boolean,
    private readonly atOnce: number,
  ) {}

  /** Sees to it that the session moves forward. Does nothing where it is being driven already. */
  wake(session: LiveSession): void {
    if (session.driving || this.#stopping) return;
    session.driving = true;
    if (this.#running.size >= this.atOnce) this.#waiting.push(session);
    else this.#start(session);
  }

  #start(session: LiveSession): void {
    const run = this.drive(session, () => this.#stopping).then(() => {
      this.#running.delete(run);
      session.driving = false;
      const next = this.#waiting.shift();
      if (next) this.#start(next);
      // Work that came in after the driver's last look, before it had let go.
      if (this.hasWork(session)) this.wake(session);
    });
    this.#running.add(run);
  }

  /** No new moves. Resolves when the running ones are done, or false after `graceMs`: the log knows how to go on. */
  async drain(graceMs: number): Promise<boolean> {
    this.#stopping = true;
    for (const session of this.#waiting.splice(0)) session.driving = false;
    const timeout = Promise.withResolvers<false>();
    const timer = setTimeout(() => timeout.resolve(false), graceMs);
    const done = Promise.allSettled(this.#running).then(() => true as const);
    return Promise.race([done, timeout.promise]).finally(() => clearTimeout(timer));
  }
}
