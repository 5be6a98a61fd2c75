/** Follows one turn of a session as chunks, from its start or from the position of the client. */
import { isDurable, type SessionEvent, type TurnId } from '@parlance/protocol';
import type { Engine, RunStatus, SessionRef, SessionSnapshot, Watch } from '../../core/index.ts';
import type { Chunk } from './chunks.ts';
import type { AcceptedInput } from './log.ts';
import { type Body, joined, START, step } from './projection.ts';

/** What the client has of the continued message. */
export type ClientPosition = {
  readonly turn: TurnId;
  /** the client has everything up to this event */
  readonly through: number;
  /** calls whose outcome the client has */
  readonly outcomes: ReadonlySet<string>;
  /** approvals that the client answered, with the answer */
  readonly approvals: ReadonlyMap<string, boolean>;
};

export type FollowTarget = {
  readonly ref: SessionRef;
  /** the input of the turn */
  readonly input: AcceptedInput;
  /** null: the message is sent from its start */
  readonly known: ClientPosition | null;
};

export type Reader = {
  chunk(chunk: Chunk): void;
  /** Resolves when the chunks so far have been sent, or the reader has disconnected. */
  ready(): Promise<void>;
  /** nothing follows */
  ended(): void;
};

const PAGE = 50;

/** The last chunks of a stream. */
const LAST: ReadonlySet<Chunk['type']> = new Set(['finish', 'error', 'abort']);

export class TurnFollower {
  #state = START;
  #turn: TurnId | null = null;
  #watch: Watch | null = null;
  #isOver = false;
  /** the current step has ended for the client */
  #isStepFinished = false;

  private constructor(
    private readonly target: FollowTarget,
    private readonly reader: Reader,
  ) {}

  static async open(engine: Engine, target: FollowTarget, reader: Reader): Promise<TurnFollower> {
    const follower = new TurnFollower(target, reader);
    follower.#greet();
    const after = await follower.#catchUp(engine);
    await engine.watch(target.ref, (event) => follower.#take(event), {
      after,
      begin: (watch) => follower.#join(watch),
      committed: ({ status }) => follower.#restIfBlocked(status),
    });
    return follower;
  }

  stop(): void {
    this.#isOver = true;
    this.#watch?.stop();
  }

  /** Reads stored events at the pace of the reader, which may be slow. Returns the number of the last event. */
  async #catchUp(engine: Engine): Promise<number> {
    const { ref, input } = this.target;
    for (let seen = input.seq - 1; ; ) {
      const events = await engine.events(ref, seen, PAGE);
      for (const event of events) {
        this.#take(event);
        await this.reader.ready();
      }
      const last = events.at(-1);
      if (!last || this.#isOver) return seen;
      seen = last.seq;
    }
  }

  /** A continued message starts again with its id. */
  #greet(): void {
    const { known } = this.target;
    if (!known) return;
    this.#isStepFinished = true;
    this.reader.chunk({ type: 'start', messageId: known.turn });
  }

  /** Stored events have been read: the block being streamed comes from the snapshot. */
  #join(watch: Watch): void {
    this.#watch = watch;
    if (this.#isOver) {
      watch.stop();
      return;
    }
    const now: SessionSnapshot = watch.snapshot();
    const [state, frames] = joined(this.#state, now);
    this.#state = state;
    for (const { body } of frames) this.#pass(body);
    this.#restIfBlocked(watch.status());
  }

  #take(event: SessionEvent): void {
    if (this.#isOver) return;
    if (event.type === 'session.erased') this.#fail('The chat was deleted.');
    const [state, frames] = step(this.#state, event);
    this.#state = state;
    const isTurns = event.type === 'turn.started' || event.type === 'input.cancelled';
    if (isTurns && event.input === this.target.input.input) this.#turn = event.turn;
    const { known } = this.target;
    if (known && isDurable(event) && event.seq <= known.through) return;
    for (const { body } of frames) this.#pass(body);
  }

  #pass(body: Body): void {
    if (this.#isOver || body.turn !== this.#turn || 'waits' in body) return;
    const { chunk } = body;
    if (this.#isKnown(chunk)) return;
    if (chunk.type === 'start-step') this.#isStepFinished = false;
    this.reader.chunk(chunk);
    if (LAST.has(chunk.type)) this.#end();
  }

  #isKnown(chunk: Chunk): boolean {
    if (chunk.type === 'finish-step') return this.#isStepFinished;
    const { known } = this.target;
    if (!known) return false;
    switch (chunk.type) {
      case 'start':
        return true;
      case 'tool-approval-response':
        return known.approvals.get(chunk.approvalId) === chunk.approved;
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-output-denied':
        return known.outcomes.has(chunk.toolCallId);
      default:
        return false;
    }
  }

  /** Ends the stream if only an answer of the page or a user is missing. */
  #restIfBlocked(status: RunStatus): void {
    if (this.#isOver || status.kind !== 'blocked' || status.turn !== this.#turn) return;
    if (!this.#isStepFinished) this.reader.chunk({ type: 'finish-step' });
    this.reader.chunk({ type: 'finish', finishReason: 'tool-calls' });
    this.#end();
  }

  #fail(errorText: string): void {
    this.reader.chunk({ type: 'error', errorText });
    this.#end();
  }

  #end(): void {
    this.stop();
    this.reader.ended();
  }
}
