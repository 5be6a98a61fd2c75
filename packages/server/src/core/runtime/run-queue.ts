/** Who is being driven: one driver per session, a bounded number at once, the rest in order of arrival. */
import type { LiveSession } from './live-session.ts';

/** Resolves with false where the session has work and cannot go on just now. Must not reject. */
export type Drive = (session: LiveSession, stopping: () => boolean) => Promise<boolean>;

export type RunQueueOptions = {
  readonly drive: Drive;
  readonly hasWork: (session: LiveSession) => boolean;
  /** how many sessions are driven at once */
  readonly atOnce: number;
  /** the delay before a session runs again after its nth failure in a row */
  readonly restMs?: (failures: number) => number;
  /** how many sessions may wait beside those that are driven; work that has begun is never refused */
  readonly mostWaiting?: number;
};

const defaultRestMs = (failures: number): number => Math.min(60_000, 500 * 2 ** failures);

export class RunQueue {
  readonly #running = new Map<LiveSession, Promise<void>>();
  readonly #waiting: LiveSession[] = [];
  /** sessions that could not go on, until they try again */
  readonly #resting = new Map<LiveSession, ReturnType<typeof setTimeout>>();
  readonly #failures = new Map<LiveSession, number>();
  /** sessions whose work is being recorded, and how often each */
  readonly #entering = new Map<LiveSession, number>();
  #stopping = false;

  constructor(private readonly options: RunQueueOptions) {}

  /**
   * Keeps a place for the session while new work for it is recorded; what is returned gives the place back, after the
   * session was woken. Null where the queue is full. A session that is in hand has its place already.
   */
  enter(session: LiveSession): (() => void) | null {
    if (session.driving) return () => undefined;
    const { atOnce, mostWaiting = Number.POSITIVE_INFINITY } = this.options;
    const before = this.#entering.get(session) ?? 0;
    const size = this.#running.size + this.#waiting.length + this.#resting.size + this.#entering.size;
    if (before === 0 && size >= atOnce + mostWaiting) return null;
    this.#entering.set(session, before + 1);
    return () => {
      const left = (this.#entering.get(session) ?? 1) - 1;
      if (left === 0) this.#entering.delete(session);
      else this.#entering.set(session, left);
    };
  }

  /** sessions that are being driven */
  get running(): number {
    return this.#running.size;
  }

  /** sessions that wait for a driver, and those that wait for another try */
  get depths(): { readonly turns: number; readonly resting: number } {
    return { turns: this.#waiting.length, resting: this.#resting.size };
  }

  get draining(): boolean {
    return this.#stopping;
  }

  /** Sees to it that the session moves forward. Does nothing where it is being driven already. */
  wake(session: LiveSession): void {
    if (this.#stopping) return;
    const resting = this.#resting.get(session);
    clearTimeout(resting);
    this.#resting.delete(session);
    if (session.driving && resting === undefined) return;
    const now = this.#running.size < this.options.atOnce;
    // Where there is no room, what has nothing to do takes no place.
    session.driving = now || this.options.hasWork(session);
    if (now) this.#start(session);
    else if (session.driving) this.#waiting.push(session);
  }

  #start(session: LiveSession): void {
    const run = this.options
      .drive(session, () => this.#stopping)
      .then((went) => {
        this.#running.delete(session);
        session.driving = false;
        if (went || !this.options.hasWork(session)) this.#failures.delete(session);
        const next = this.#waiting.shift();
        if (next) this.#start(next);
        if (this.#stopping || !this.options.hasWork(session)) return;
        // Work that came in after the driver's last look, before it had let go.
        if (went) this.wake(session);
        else this.#rest(session);
      });
    this.#running.set(session, run);
  }

  /** The session stays in hand: it is woken by the next command, or after a time that grows. */
  #rest(session: LiveSession): void {
    const failures = (this.#failures.get(session) ?? 0) + 1;
    this.#failures.set(session, failures);
    const { restMs = defaultRestMs } = this.options;
    session.driving = true;
    this.#resting.set(
      session,
      setTimeout(() => this.wake(session), restMs(failures)),
    );
  }

  /**
   * No new moves. Resolves when the running ones are done; or with false after `graceMs`, when those that are left
   * have been stopped: the log knows how to go on.
   */
  async drain(graceMs: number): Promise<boolean> {
    this.#stopping = true;
    for (const timer of this.#resting.values()) clearTimeout(timer);
    for (const session of [...this.#waiting.splice(0), ...this.#resting.keys()]) session.driving = false;
    const timeout = Promise.withResolvers<false>();
    const timer = setTimeout(() => timeout.resolve(false), graceMs);
    const done = Promise.all(this.#running.values()).then(() => true as const);
    const finished = await Promise.race([done, timeout.promise]).finally(() => clearTimeout(timer));
    for (const session of this.#running.keys()) session.abandon();
    return finished;
  }
}
