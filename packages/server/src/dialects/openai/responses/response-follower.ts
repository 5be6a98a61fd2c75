/** Follows a segment: converts its pieces to output and stream events, until the turn waits or ends. */
import { Fault, type HistoryItem } from '@parlance/protocol';
import type { Piece } from '../../shared/exchange/pieces.ts';
import { Reading } from '../../shared/exchange/reading.ts';
import type { Context } from '../context.ts';
import { errorBody } from '../faults.ts';
import { EventGate } from './event-gate.ts';
import { historyItems } from './items.ts';
import { IN_PROGRESS, type Outcome, type ResponseObject, responseObject, type Status } from './objects.ts';
import type { ItemEvent } from './open-items.ts';
import { type Position, positionAfter, type Restarts } from './restarts.ts';
import type { Segment } from './segment.ts';
import { OutputWriter } from './writer.ts';

export type NumberedEvent = ItemEvent & { readonly sequence_number: number };
type Pause = Extract<Piece, { kind: 'pauses' }>;

export type FollowOptions = {
  /** called with every event of the stream, starting with the first */
  readonly emit: (event: NumberedEvent) => void;
  readonly restarts: Restarts;
  /** the last event number that the reader has received; absent if there is none */
  readonly after?: number;
};

export class ResponseFollower {
  /** Resolves when the response has ended, even if it failed. */
  readonly done: Promise<void>;
  /** the reason of a failure, or null */
  fault: Fault | null = null;
  /** the last event of the response, once it has ended */
  endSeq = 0;
  readonly #ends = Promise.withResolvers<void>();
  readonly #gate: EventGate<NumberedEvent>;
  readonly #writer: OutputWriter;
  #status: Status = 'queued';
  #endedAt: number | null = null;
  #pause: { readonly piece: Pause; readonly seq: number; readonly at: number } | null = null;
  #sequence = 0;
  /** incremented with each piece */
  #received = 0;

  private constructor(
    private readonly ctx: Pick<Context, 'engine'>,
    readonly segment: Segment,
    private readonly parts: { readonly reading: Reading; readonly watching: FollowOptions | null },
  ) {
    this.done = this.#ends.promise;
    this.#gate = new EventGate((event) => parts.watching?.emit(event));
    const names = new Set(segment.head.terms.tools?.map(({ name }) => name));
    this.#writer = new OutputWriter(
      segment.head.session,
      (tool) => names.has(tool),
      (event) => this.#emit(event),
    );
  }

  static async open(
    ctx: Pick<Context, 'engine'>,
    segment: Segment,
    watching: FollowOptions | null = null,
  ): Promise<ResponseFollower> {
    const { ref, start, state, target } = segment;
    const reading = await Reading.open(ctx.engine, ref, { after: start.seq - 1, state });
    const follower = new ResponseFollower(ctx, segment, { reading, watching });
    follower.#lifecycle('response.created');
    follower.#lifecycle('response.in_progress');
    if (target.turn !== null) follower.#status = 'in_progress';
    reading.follow(target, {
      piece: (piece) => follower.#take(piece),
      ended: (fault) => follower.#turnEnded(fault),
    });
    // The turn waits only if nothing else follows at once.
    if (follower.#pause) await follower.#confirm();
    return follower;
  }

  get isOver(): boolean {
    return this.#endedAt !== null;
  }

  get turn() {
    const { start } = this.segment;
    return this.parts.reading.turn ?? (start.type === 'input.accepted' ? (start.turn ?? null) : null);
  }

  get response(): ResponseObject {
    return responseObject(this.segment.head, this.#outcome());
  }

  /** the answer as history items, as a client sends it back */
  get items(): HistoryItem[] {
    return this.#writer.output.flatMap(historyItems);
  }

  /** The client no longer waits for the response. */
  abandon(): void {
    this.#turnEnded(new Fault('cancelled', 'The client has disconnected.'));
  }

  stop(): void {
    this.parts.reading.stop();
  }

  #outcome(): Outcome {
    const { output, usage, stop } = this.#writer;
    const isFailed = this.#status === 'failed';
    return {
      status: this.#status,
      output,
      usage: this.isOver ? usage : null,
      completedAt: this.#status === 'completed' ? this.#endedAt : null,
      error: isFailed && this.fault ? errorOf(this.fault) : null,
      reason:
        this.#status !== 'incomplete' ? null : stop === 'length' ? 'max_output_tokens' : 'content_filter',
    };
  }

  #take(piece: Piece): void {
    this.#received++;
    if (this.#status === 'queued') this.#status = 'in_progress';
    if (this.#pause) {
      if (!isOfSameMoment(piece)) return void this.#endPaused();
      this.#pause = null;
    }
    if (piece.kind === 'pauses') return void this.#mayPause(piece);
    const wasShown = piece.kind === 'restarted' && (piece.shown || this.#writer.isOpen);
    const isExact = this.#writer.isOpen;
    this.#writer.add(piece);
    if (wasShown) this.#renumber(isExact);
  }

  /**
   * After a restart, numbering continues after the events that were sent. `isExact`: all of those are known
   * here.
   */
  #renumber(isExact: boolean): void {
    const { reading, watching } = this.parts;
    if (!watching) return;
    const { restarts, after = -1 } = watching;
    const now: Position = { number: this.#sequence, index: this.#writer.next };
    const known = restarts.at(reading.seq);
    const next = known ?? (isExact ? now : positionAfter(now, after));
    // Fills the gap of discarded events.
    while (this.#sequence < next.number) this.#emit({ type: 'keepalive' });
    this.#writer.next = Math.max(this.#writer.next, next.index);
    if (!known) this.#gate.holdUntil(restarts.keep(reading.seq, next));
  }

  #mayPause(piece: Pause): void {
    const { seq, at } = this.parts.reading;
    const names = new Set(this.segment.head.terms.tools?.map(({ name }) => name));
    // Calls that other clients execute do not end the response.
    if (piece.approvals.length === 0 && !piece.calls.some(({ tool }) => names.has(tool))) return;
    this.#pause = { piece, seq, at };
    void this.#confirm();
  }

  /** Ends the response if the turn still waits after all pending events were processed. */
  async #confirm(): Promise<void> {
    const received = this.#received;
    await this.ctx.engine.snapshot(this.segment.ref).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (this.#pause && this.#received === received) this.#endPaused();
  }

  #endPaused(): void {
    const pause = this.#pause;
    if (!pause) return;
    this.#pause = null;
    this.#writer.ask(pause.piece.approvals);
    this.#end('completed', pause);
  }

  #turnEnded(fault: Fault | null): void {
    if (this.isOver) return;
    if (this.#pause) return void this.#endPaused();
    this.fault = fault;
    const { seq, at } = this.parts.reading;
    if (fault) this.#end(fault.code === 'cancelled' ? 'cancelled' : 'failed', { seq, at });
    else this.#end(this.#writer.stop === 'done' ? 'completed' : 'incomplete', { seq, at });
  }

  #end(status: Status, { seq, at }: { readonly seq: number; readonly at: number }): void {
    if (this.isOver) return;
    this.parts.reading.stop();
    this.#writer.end(status === 'completed' ? 'completed' : 'incomplete');
    this.#status = status;
    this.#endedAt = at;
    this.endSeq = seq;
    this.#lifecycle(`response.${status === 'cancelled' ? 'failed' : status}`);
    void this.#gate.idle.then(() => this.#ends.resolve());
  }

  #lifecycle(type: string): void {
    if (!this.parts.watching) return;
    const begins = type === 'response.created' || type === 'response.in_progress';
    this.#emit({ type, response: begins ? responseObject(this.segment.head, IN_PROGRESS) : this.response });
  }

  #emit({ type, ...rest }: ItemEvent): void {
    const sequence_number = this.#sequence++;
    if (this.parts.watching) this.#gate.send({ type, sequence_number, ...rest });
  }
}

/** Whether the piece may arrive at the same moment as one that seems to be the last. */
function isOfSameMoment(piece: Piece): boolean {
  switch (piece.kind) {
    case 'asks':
    case 'requested':
    case 'running':
    case 'deferred':
    case 'waits':
    case 'pauses':
      return true;
    case 'result':
      return piece.before === 'requested';
    default:
      return false;
  }
}

function errorOf(fault: Fault): { readonly code: string; readonly message: string } {
  const { code, message } = errorBody(fault).error;
  return { code: code ?? 'server_error', message };
}
