/**
 * Reads turns of a session for one client: stored events, what is being streamed, then live events, as the updates of
 * a projection. Whether a turn waits for somebody is told by the engine: between two events of one append, and in the
 * log, which does not have the ends of appends, a turn can look as if it waited.
 */
import {
  type DurableEvent,
  Fault,
  type InputId,
  isDurable,
  type SessionEvent,
  type TurnId,
} from '@parlance/protocol';
import type { Engine, RunStatus, SessionRef, SessionSnapshot, Watch } from '../../core/index.ts';
import type { Frame, Projection, StepResult } from './projection.ts';

export type TurnProjection<State, Update extends object> = Pick<
  Projection<State, Update>,
  'start' | 'step'
> & {
  /** Stored events have only complete output: adds what is being streamed. */
  join(state: State, now: SessionSnapshot): StepResult<State, Update>;
};

export type TurnTarget = {
  /** the input whose turn is read last; null if there is none */
  readonly input: InputId | null;
  /** the turn that is read before it, or alone; null if there is none */
  readonly turn: TurnId | null;
};

export type TurnListener<Update> = {
  /** `event` is null for what was being streamed when the stored events had been read. */
  update(update: Update, event: SessionEvent | null): void;
  /** Called when the stored events have been read, and after each append. */
  status?(status: RunStatus): void;
  /** Nothing follows. The fault is null if the turn succeeded. */
  ended(fault: Fault | null): void;
  /** If present, stored events are read at the pace of the client: resolves when it has those so far. */
  ready?(): Promise<void>;
};

/** An event with its updates, and the position of the last stored event. */
type Step<Update extends object> = readonly [
  frames: readonly Frame<Update>[],
  event: SessionEvent | null,
  seq: number,
  at: number,
];

type ReaderOptions<State, Update extends object> = {
  readonly projection: TurnProjection<State, Update>;
  /** Misses no event after this number. `now`: only live events. */
  readonly after: number | 'now';
  /** the state after that event */
  readonly state: State;
};

const PAGE = 50;

export class TurnReader<State, Update extends { readonly turn: TurnId }> {
  /** position and time of the last stored event up to the current update */
  seq = 0;
  at = 0;
  #state: State;
  /** the same of the last stored event that was read */
  #readSeq = 0;
  #readAt = 0;
  /** steps before `follow` was called */
  #buffered: Step<Update>[] | null = [];
  #watch: Watch | null = null;
  #isStopped = false;
  #target: TurnTarget | null = null;
  #listener: TurnListener<Update> | null = null;
  /** the turn of the input, once it has started or was withdrawn */
  #last: TurnId | null = null;

  private constructor(private readonly options: ReaderOptions<State, Update>) {
    this.#state = options.state;
  }

  /** Updates are kept until `follow` is called. */
  static async open<State, Update extends { readonly turn: TurnId }>(
    engine: Pick<Engine, 'watch'>,
    ref: SessionRef,
    options: ReaderOptions<State, Update>,
  ): Promise<TurnReader<State, Update>> {
    const reader = new TurnReader(options);
    await reader.#open(engine, ref, options.after);
    return reader;
  }

  /** Reads the target, or all turns if it is null. Resolves when live events follow. */
  static async follow<State, Update extends { readonly turn: TurnId }>(
    engine: Pick<Engine, 'watch' | 'events'>,
    ref: SessionRef,
    {
      target,
      listener,
      ...options
    }: ReaderOptions<State, Update> & {
      readonly target: TurnTarget | null;
      /** is given the reader before the first update */
      readonly listener: (reader: TurnReader<State, Update>) => TurnListener<Update>;
    },
  ): Promise<TurnReader<State, Update>> {
    const reader = new TurnReader(options);
    reader.follow(target, listener(reader));
    let { after } = options;
    if (reader.#listener?.ready && after !== 'now') after = await reader.#catchUp(engine, ref, after);
    if (!reader.#isStopped) await reader.#open(engine, ref, after);
    return reader;
  }

  follow(target: TurnTarget | null, listener: TurnListener<Update>): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = null;
    this.#target = target;
    this.#listener = listener;
    for (const step of buffered) this.#pass(...step);
    this.#tellStatus();
  }

  get state(): State {
    return this.#state;
  }

  /** the turn being read, until it has ended; null if it has not started */
  get turn(): TurnId | null {
    return this.#target?.input ? this.#last : (this.#target?.turn ?? null);
  }

  /** whether the turn is part of the target */
  follows(turn: TurnId): boolean {
    return this.#target === null || turn === this.#last || turn === this.#target.turn;
  }

  /** null while stored events are read */
  get now(): Pick<Watch, 'snapshot' | 'status'> | null {
    return this.#watch;
  }

  stop(): void {
    this.#isStopped = true;
    this.#watch?.stop();
    this.#listener = null;
  }

  async #open(engine: Pick<Engine, 'watch'>, ref: SessionRef, after: number | 'now'): Promise<void> {
    await engine.watch(ref, (event) => this.#take(event), {
      after,
      begin: (watch) => this.#begin(watch, after),
      committed: () => this.#tellStatus(),
    });
  }

  /** Returns the number of the last event. */
  async #catchUp(engine: Pick<Engine, 'events'>, ref: SessionRef, after: number): Promise<number> {
    for (let seen = after; ; ) {
      const events = await engine.events(ref, seen, PAGE);
      for (const event of events) {
        this.#take(event);
        await this.#listener?.ready?.();
      }
      const last = events.at(-1);
      if (!last || this.#isStopped) return seen;
      seen = last.seq;
    }
  }

  #begin(watch: Watch, after: number | 'now'): void {
    this.#watch = watch;
    if (this.#isStopped) return void watch.stop();
    const { start, join } = this.options.projection;
    if (after === 'now') this.#state = start(watch.snapshot());
    else this.#advance(join(this.#state, watch.snapshot()), null);
    this.#tellStatus();
  }

  /** Called for each token. */
  #take(event: SessionEvent): void {
    if (this.#isStopped) return;
    if (isDurable(event)) {
      this.#readSeq = event.seq;
      this.#readAt = event.at;
    }
    this.#advance(this.options.projection.step(this.#state, event), event);
  }

  #advance([state, frames]: StepResult<State, Update>, event: SessionEvent | null): void {
    this.#state = state;
    if (this.#buffered) this.#buffered.push([frames, event, this.#readSeq, this.#readAt]);
    else this.#pass(frames, event, this.#readSeq, this.#readAt);
  }

  #pass(...[frames, event, seq, at]: Step<Update>): void {
    this.seq = seq;
    this.at = at;
    const isInputs =
      event?.type === 'turn.started' || event?.type === 'input.joined' || event?.type === 'input.cancelled';
    if (isInputs && this.#target?.input === event.input) this.#last = event.turn;
    for (const { body } of frames) if (this.follows(body.turn)) this.#listener?.update(body, event);
    if (event && isDurable(event)) this.#end(event);
    else if (event?.type === 'session.erased')
      this.#listener?.ended(new Fault('not_found', 'The session was deleted.'));
  }

  #end(event: DurableEvent): void {
    switch (event.type) {
      case 'turn.ended':
      case 'turn.failed':
      case 'turn.cancelled':
      case 'input.cancelled':
        if (event.turn !== this.turn) return;
        if (event.type === 'turn.ended') this.#listener?.ended(null);
        else this.#listener?.ended(event.type === 'turn.failed' ? Fault.from(event.fault) : cancelled());
    }
  }

  #tellStatus(): void {
    if (this.#watch && !this.#buffered) this.#listener?.status?.(this.#watch.status());
  }
}

const cancelled = (): Fault => new Fault('cancelled', 'The turn was cancelled.');
