/** Schedules sessions: one driver each, a bounded number at a time, the rest in order of arrival. */
import type { Clock, ClockTimer } from '../../lib/clock.ts';
import type { Session } from './session.ts';

/** Resolves with false if the session has work but cannot continue now. Must not reject. */
export type Drive = (session: Session, stopping: () => boolean) => Promise<boolean>;

export type RunQueueOptions = {
  readonly drive: Drive;
  readonly hasWork: (session: Session) => boolean;
  /** maximum number of concurrently driven sessions */
  readonly atOnce: number;
  /** delay before a session runs again after its nth consecutive failure */
  readonly retryDelayMs?: (failures: number, session: Session) => number;
  /** maximum number of waiting sessions in addition to the driven ones; started work is never refused */
  readonly maxWaiting?: number;
  readonly clock: Clock;
};

export const defaultRetryDelayMs = (failures: number): number => Math.min(60_000, 500 * 2 ** failures);

export class RunQueue {
  readonly #running = new Map<Session, Promise<void>>();
  readonly #waiting: Session[] = [];
  /** sessions that failed to continue, until their next attempt */
  readonly #retrying = new Map<Session, ClockTimer>();
  readonly #failures = new Map<Session, number>();
  /** sessions whose new work is being recorded, with the number of pending commands */
  readonly #entering = new Map<Session, number>();
  #stopping = false;

  constructor(private readonly options: RunQueueOptions) {}

  /**
   * Reserves a slot for the session while new work for it is recorded. Call the returned function after the session is
   * woken. Null if the queue is full. A session that is driven or waiting already has its slot.
   */
  enter(session: Session): (() => void) | null {
    if (session.driving) return () => undefined;
    const { atOnce, maxWaiting = Number.POSITIVE_INFINITY } = this.options;
    const before = this.#entering.get(session) ?? 0;
    const size = this.#running.size + this.#waiting.length + this.#retrying.size + this.#entering.size;
    if (before === 0 && size >= atOnce + maxWaiting) return null;
    this.#entering.set(session, before + 1);
    return () => {
      const left = (this.#entering.get(session) ?? 1) - 1;
      if (left === 0) this.#entering.delete(session);
      else this.#entering.set(session, left);
    };
  }

  /** Whether the session would be driven immediately. */
  hasRoom(session: Session): boolean {
    if (this.#stopping) return false;
    const others = this.#running.size + this.#entering.size - (this.#entering.has(session) ? 1 : 0);
    return session.driving || others < this.options.atOnce;
  }

  /** number of additional sessions that would be driven immediately */
  get room(): number {
    const taken = this.#running.size + this.#waiting.length + this.#entering.size;
    return this.#stopping ? 0 : Math.max(0, this.options.atOnce - taken);
  }

  /** number of sessions being driven */
  get running(): number {
    return this.#running.size;
  }

  /** number of sessions that wait for a driver, and that wait for another attempt */
  get depths(): { readonly turns: number; readonly resting: number } {
    return { turns: this.#waiting.length, resting: this.#retrying.size };
  }

  get draining(): boolean {
    return this.#stopping;
  }

  /** Drives the session now, or as soon as a driver is free. Does nothing if it is already driven. */
  wake(session: Session): void {
    if (this.#stopping) return;
    const retrying = this.#retrying.get(session);
    this.options.clock.clear(retrying);
    this.#retrying.delete(session);
    if (session.driving && retrying === undefined) return;
    const now = this.#running.size < this.options.atOnce;
    // Without a free driver, a session without work does not wait in the queue.
    session.driving = now || this.options.hasWork(session);
    if (now) this.#start(session);
    else if (session.driving) this.#waiting.push(session);
  }

  #start(session: Session): void {
    const run = this.options
      .drive(session, () => this.#stopping)
      .then((succeeded) => {
        this.#running.delete(session);
        session.driving = false;
        if (succeeded || !this.options.hasWork(session)) this.#failures.delete(session);
        const next = this.#waiting.shift();
        if (next) this.#start(next);
        if (this.#stopping || !this.options.hasWork(session)) return;
        // Work may have arrived after the driver's last check.
        if (succeeded) this.wake(session);
        else this.#retryLater(session);
      });
    this.#running.set(session, run);
  }

  /** The session runs again with the next command, or after a growing delay. */
  #retryLater(session: Session): void {
    const failures = (this.#failures.get(session) ?? 0) + 1;
    this.#failures.set(session, failures);
    const { clock, retryDelayMs = defaultRetryDelayMs } = this.options;
    session.driving = true;
    this.#retrying.set(
      session,
      clock.setTimeout(() => this.wake(session), retryDelayMs(failures, session)),
    );
  }

  /** Retries all sessions that failed to continue. */
  retry(): void {
    for (const session of [...this.#retrying.keys()]) this.wake(session);
  }

  /**
   * Starts no more actions. Resolves with true when the running ones are done, or with false after `graceMs`;
   * the remaining ones are aborted and resume from the log.
   */
  async drain(graceMs: number): Promise<boolean> {
    const { clock } = this.options;
    this.#stopping = true;
    for (const timer of this.#retrying.values()) clock.clear(timer);
    for (const session of [...this.#waiting.splice(0), ...this.#retrying.keys()]) session.driving = false;
    const timeout = Promise.withResolvers<false>();
    const timer = clock.setTimeout(() => timeout.resolve(false), graceMs);
    const done = Promise.all(this.#running.values()).then(() => true as const);
    const finished = await Promise.race([done, timeout.promise]).finally(() => clock.clear(timer));
    for (const session of this.#running.keys()) session.abandon();
    return finished;
  }
}
