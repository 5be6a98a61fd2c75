/**
 * The simulated world: one clock, one queue of completions, one trace. Everything that the engine awaits from outside – timers,
 * answers of the store, messages, pieces of a model's answer – is a completion in this queue with a random delay. The world takes
 * the next one, runs it, and drains all promise continuations that follow from it before it takes another, synchronously. No
 * continuation can depend on anything but the order of completions, so the execution is a function of the seed.
 */
import { drainMicrotasks } from 'bun:jsc';
import type { Clock, ClockTimer } from '../packages/server/src/lib/clock.ts';
import { Random } from './random.ts';

export type Completion = {
  at: number;
  order: number;
  readonly run: () => void;
  readonly process: Process | null;
  cancelled: boolean;
};

/** Thrown by an oracle: the product has broken a promise. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

const TRACE_LINES = 4_000;
/** In milliseconds since 1970: the wall clock of a process without skew starts here, in the middle of a month. */
export const START = Date.UTC(2026, 0, 15);

export class World {
  /** virtual milliseconds since the start */
  now = 0;
  /** completions that have run */
  steps = 0;
  readonly random: Random;
  readonly lines: string[] = [];
  violation: Violation | null = null;
  readonly #queue: Completion[] = [];
  #scheduled = 0;

  constructor(readonly seed: number) {
    this.random = new Random(seed);
  }

  trace(who: string, what: string): void {
    if (this.lines.length >= TRACE_LINES) this.lines.shift();
    this.lines.push(`${(this.now / 1_000).toFixed(3).padStart(9)}s ${who.padEnd(8)} ${what}`);
  }

  /** The first violation ends the run. */
  violate(message: string): void {
    if (this.violation) return;
    this.violation = new Violation(message);
    this.trace('ORACLE', message);
  }

  /** Runs `run` after `ms`, unless the process has ended by then; while it is paused, later. */
  after(ms: number, run: () => void, process: Process | null = null): Completion {
    const completion = {
      at: this.now + Math.max(0, ms),
      order: this.#scheduled++,
      run,
      process,
      cancelled: false,
    };
    this.#push(completion);
    return completion;
  }

  /** Schedules a completion that its process could not take. */
  again(completion: Completion): void {
    completion.at = this.now;
    completion.order = this.#scheduled++;
    this.#push(completion);
  }

  /** Runs completions until `done` returns true or the time is over. */
  run(until: number, done: () => boolean = () => false): void {
    drainMicrotasks();
    while (!this.violation && !done()) {
      const next = this.#queue[0];
      if (!next || next.at > until) {
        this.now = Math.max(this.now, until);
        return;
      }
      this.#pop();
      this.now = Math.max(this.now, next.at);
      if (next.cancelled || next.process?.ended) continue;
      if (next.process?.hold(next)) continue;
      this.steps++;
      next.run();
      drainMicrotasks();
    }
  }

  #push(completion: Completion): void {
    const queue = this.#queue;
    let index = queue.push(completion) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = queue[parent];
      if (!above || isBefore(above, completion)) break;
      queue[index] = above;
      index = parent;
    }
    queue[index] = completion;
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop();
    if (!last || queue.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const [one, other] = [queue[left], queue[left + 1]];
      if (!one) break;
      const isRight = other !== undefined && isBefore(other, one);
      const child = isRight ? other : one;
      if (isBefore(last, child)) break;
      queue[index] = child;
      index = isRight ? left + 1 : left;
    }
    queue[index] = last;
  }
}

const isBefore = (one: Completion, other: Completion): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** Something that can be killed or paused: its completions end with it, or wait. */
export class Process {
  ended = false;
  /** ahead of the true time */
  skewMs = 0;
  readonly clock: Clock;
  readonly random: Random;
  #ids = 0;
  #held: Completion[] | null = null;

  constructor(
    readonly world: World,
    readonly name: string,
  ) {
    this.random = world.random.branch(name);
    const after = (run: () => void, ms: number) => world.after(ms + this.random.unit(), run, this);
    // Bun rejects durations below a millisecond in the same way.
    const lasting = (ms: number) => Math.max(1, Number.isFinite(ms) ? ms : 1);
    this.clock = {
      now: () => Math.floor(START + world.now + this.skewMs),
      elapsed: () => world.now,
      setTimeout: (run, ms) => new SimulatedTimer(() => after(run, lasting(ms))),
      setInterval: (run, ms) =>
        new SimulatedTimer((timer) => {
          const again = (): Completion =>
            after(() => {
              timer.completion = again();
              run();
            }, lasting(ms));
          return again();
        }),
      clear: (timer) => (timer as SimulatedTimer | null | undefined)?.clear(),
      timeout: (ms) => {
        const controller = new AbortController();
        after(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms);
        return controller.signal;
      },
    };
  }

  readonly newId = (): string => {
    const number = (++this.#ids).toString(16).padStart(12, '0');
    return `${Bun.hash.crc32(this.name).toString(16).padStart(8, '0')}-0000-4000-8000-${number}`;
  };

  trace(what: string): void {
    this.world.trace(this.name, what);
  }

  sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.world.after(ms, resolve, this);
    return promise;
  }

  kill(): void {
    this.ended = true;
    this.#held = null;
  }

  /** The process runs nothing while time passes, like a stopped virtual machine or a long garbage collection. */
  pause(ms: number): void {
    if (this.#held || this.ended) return;
    this.#held = [];
    this.world.after(ms, () => {
      const held = this.#held ?? [];
      this.#held = null;
      if (!this.ended) this.trace('resumes');
      for (const completion of held) this.world.again(completion);
    });
  }

  get paused(): boolean {
    return this.#held !== null;
  }

  /** Keeps the completion if the process is paused. */
  hold(completion: Completion): boolean {
    this.#held?.push(completion);
    return this.#held !== null;
  }
}

class SimulatedTimer implements ClockTimer {
  completion: Completion;

  constructor(start: (timer: SimulatedTimer) => Completion) {
    this.completion = start(this);
  }

  clear(): void {
    this.completion.cancelled = true;
  }

  unref(): this {
    return this;
  }
}
