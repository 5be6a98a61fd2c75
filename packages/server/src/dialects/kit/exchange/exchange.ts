/**
 * One request and its answer: from the first event it caused to the end of the turn, or to calls of the
 * caller's tools.
 */
import { Fault } from '@parlance/protocol';
import type { DialectContext } from '../dialect.ts';
import type { Addition, Answer } from './answer.ts';
import type { Question, StartedExchange } from './sessions.ts';

export class Exchange {
  /** Resolves when the answer is complete; rejects with a `Fault` if it fails. */
  readonly done: Promise<void>;
  /** Resolves when there is something to send, when the answer may take long, or when it is complete. */
  readonly started: Promise<void>;
  readonly #begins = Promise.withResolvers<void>();
  readonly #ends = Promise.withResolvers<void>();
  /** additions that have not been sent yet */
  readonly #pending: Addition[] = [];
  #show: ((addition: Addition) => void) | null = null;
  #isOver = false;
  #isAbandoned = false;

  constructor(
    private readonly ctx: Pick<DialectContext, 'engine' | 'log'>,
    private readonly question: Question,
    private readonly parts: { readonly started: StartedExchange; readonly answer: Answer },
  ) {
    this.done = this.#ends.promise;
    this.started = this.#begins.promise;
    this.done.catch(() => undefined);
    const { reading, target } = parts.started;
    reading.follow(target, {
      piece: (piece) => this.#guarded(() => this.#take(piece)),
      ended: (fault) => this.#end(fault),
    });
  }

  /** Calls `show` with the pending additions, then with all later ones. */
  show(show: (addition: Addition) => void): void {
    for (const addition of this.#pending.splice(0)) show(addition);
    this.#show = show;
  }

  /** Ends the answer with a fault. The turn continues. */
  fail(fault: Fault): void {
    this.#end(fault);
  }

  /** The client disconnected: cancels the turn that its request started. */
  abandon(): void {
    const { started } = this.parts;
    if (this.#isOver || this.#isAbandoned) return;
    this.#isAbandoned = true;
    if (started.again || this.ctx.engine.draining) this.#end(GONE);
    else if (started.reading.turn !== null) void this.#cancel();
  }

  #take(piece: Parameters<Answer['add']>[0]): void {
    if (this.#isOver) return;
    const { answer, started } = this.parts;
    if (this.#isAbandoned && piece.turn === started.reading.turn) return void this.#cancel();
    for (const addition of answer.add(piece)) {
      if (this.#show) this.#show(addition);
      else this.#pending.push(addition);
      this.#begins.resolve();
    }
    if (piece.kind === 'asks') this.#begins.resolve();
    if (piece.kind === 'waits' && answer.calls.length > 0) this.#end(null);
  }

  async #cancel(): Promise<void> {
    const { engine, log } = this.ctx;
    const { ref, reading } = this.parts.started;
    const { turn } = reading;
    this.#end(GONE);
    try {
      const snapshot = await engine.snapshot(ref);
      if (snapshot.turn !== turn) return;
      const { principal, dialect } = this.question;
      await engine.send(ref, { type: 'turn.cancel' }, { principal, dialect });
    } catch (thrown) {
      if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
    }
  }

  /** Ends the answer with a fault if the model contradicts what was already sent. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#end(thrown);
    }
  }

  #end(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.parts.started.reading.stop();
    if (failure === null) this.#ends.resolve();
    else this.#ends.reject(failure);
    this.#begins.resolve();
  }
}

const GONE = new Fault('cancelled', 'The client has hung up.');
