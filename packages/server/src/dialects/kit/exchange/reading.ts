/** Follows the turn that a request started, or that it continued with the caller's results. */
import { Fault, type InputId, isDurable, type SessionEvent, type TurnId } from '@parlance/protocol';
import type { Engine, SessionRef, Watch } from '../../../core/index.ts';
import { IDLE, type Piece, projection, type State } from './pieces.ts';

export type FollowTarget = {
  /** the input whose turn is read last; null if there is none */
  readonly input: InputId | null;
  /** the turn that was continued with results */
  readonly turn: TurnId | null;
  /** the calls that the request answered */
  readonly answered: ReadonlySet<string>;
};

export type Reader = {
  piece(piece: Piece): void;
  /** the turn waits for the calls and approvals of the last `pauses` */
  blocked?(): void;
  /** nothing follows; the fault is null if the turn succeeded */
  ended(fault: Fault | null): void;
};

/** A piece (null if the session was erased) with the position of the last stored event. */
type BufferedPiece = { readonly piece: Piece | null; readonly seq: number; readonly at: number };

export class Reading {
  #state: State;
  /** position and time of the last stored event up to the current piece */
  seq = 0;
  at = 0;
  #read = { seq: 0, at: 0 };
  /** pieces that arrived before `follow` was called */
  #buffered: BufferedPiece[] | null = [];
  #watch: Watch | null = null;
  #target: FollowTarget | null = null;
  #reader: Reader | null = null;
  /** the turn of the input, once it has started */
  #last: TurnId | null = null;

  private constructor(
    readonly ref: SessionRef,
    state: State,
  ) {
    this.#state = state;
  }

  /** Misses no event from now on, or after event number `after`; `state` is the state after that event. */
  static async open(
    engine: Pick<Engine, 'watch'>,
    ref: SessionRef,
    { after, state = IDLE }: { readonly after: number | 'now'; readonly state?: State },
  ): Promise<Reading> {
    const reading = new Reading(ref, state);
    await engine.watch(ref, (event) => reading.#take(event), {
      after,
      begin: (watch) => reading.#begin(watch, after),
      committed: () => reading.#committed(),
    });
    return reading;
  }

  follow(target: FollowTarget, reader: Reader): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = null;
    this.#target = target;
    this.#reader = reader;
    for (const passed of buffered) this.#pass(passed);
    this.#committed();
  }

  /** the turn being read, until it has ended; null if it has not started */
  get turn(): TurnId | null {
    return this.#target?.input ? this.#last : (this.#target?.turn ?? null);
  }

  stop(): void {
    this.#watch?.stop();
    this.#reader = null;
  }

  #begin(watch: Watch, after: number | 'now'): void {
    this.#watch = watch;
    const now = watch.snapshot();
    if (after === 'now') this.#state = projection.start(now);
    else {
      // Stored events have only complete blocks: the block being streamed comes from the snapshot.
      for (const piece of projection.attach(this.#state, now)) this.#pass({ piece, ...this.#read });
      this.#state = { ...this.#state, block: now.open?.block ?? null };
    }
  }

  #take(event: SessionEvent): void {
    if (isDurable(event)) this.#read = { seq: event.seq, at: event.at };
    if (event.type === 'session.erased') this.#pass({ piece: null, ...this.#read });
    const [state, frames] = projection.step(this.#state, event);
    this.#state = state;
    for (const { body: piece } of frames) this.#pass({ piece, ...this.#read });
  }

  #committed(): void {
    if (!this.#buffered && this.#watch?.status().kind === 'blocked') this.#reader?.blocked?.();
  }

  #pass(passed: BufferedPiece): void {
    if (this.#buffered) {
      this.#buffered.push(passed);
      return;
    }
    if (!this.#target || !this.#reader) return;
    const { piece } = passed;
    this.seq = passed.seq;
    this.at = passed.at;
    if (piece === null) {
      this.#reader.ended(new Fault('not_found', 'The session was deleted.'));
      return;
    }
    const { input, turn } = this.#target;
    if (piece.kind === 'started' && piece.input === input) this.#last = piece.turn;
    if (piece.kind === 'withdrawn' && piece.input === input)
      this.#reader.ended(new Fault('cancelled', 'The turn was cancelled.'));
    if (piece.turn !== this.#last && piece.turn !== turn) return;
    const shown = this.#withoutAnswered(piece);
    if (shown) this.#reader.piece(shown);
    if (piece.turn !== (input ? this.#last : turn)) return;
    if (piece.kind === 'ended') this.#reader?.ended(null);
    if (piece.kind === 'failed') this.#reader?.ended(Fault.from(piece.fault));
  }

  /** Leaves out calls that the request answers: they are open until their results are stored. */
  #withoutAnswered(piece: Piece): Piece | null {
    if (piece.kind !== 'waits' && piece.kind !== 'pauses') return piece;
    const isOpen = ({ call }: { readonly call: string }) => !this.#target?.answered.has(call);
    const calls = piece.calls.filter(isOpen);
    if (piece.kind === 'waits') return calls.length > 0 ? { ...piece, calls } : null;
    const approvals = piece.approvals.filter(isOpen);
    return calls.length + approvals.length > 0 ? { ...piece, calls, approvals } : null;
  }
}
