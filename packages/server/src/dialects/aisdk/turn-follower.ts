/** Follows one turn of a session as chunks, from its start or from the position of the client. */
import { isDurable, type SessionEvent, type TurnId } from '@parlance/protocol';
import type { Engine, RunStatus, SessionRef } from '../../core/index.ts';
import { TurnReader } from '../kit/turn-reader.ts';
import type { Chunk } from './chunks.ts';
import type { AcceptedInput } from './log.ts';
import { type Body, projection, START, type State } from './projection.ts';

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

/** The last chunks of a stream. */
const LAST: ReadonlySet<Chunk['type']> = new Set(['finish', 'error', 'abort']);

export class TurnFollower {
  /** the current step has ended for the client */
  #isStepFinished = false;

  private constructor(
    private readonly target: FollowTarget,
    private readonly client: Reader,
    private readonly reader: TurnReader<State, Body>,
  ) {
    const { known } = target;
    if (!known) return;
    // A continued message starts again with its id.
    this.#isStepFinished = true;
    client.chunk({ type: 'start', messageId: known.turn });
  }

  /** Stored events are read at the pace of the client, which may be slow. */
  static open(engine: Engine, target: FollowTarget, client: Reader): Promise<TurnReader<State, Body>> {
    return TurnReader.follow(engine, target.ref, {
      projection,
      after: target.input.seq - 1,
      state: START,
      target: { input: target.input.input, turn: null },
      listener: (reader) => {
        const follower = new TurnFollower(target, client, reader);
        return {
          update: ({ chunk }, event) => follower.#pass(chunk, event),
          status: (status) => follower.#restIfBlocked(status),
          ended: () => follower.#fail('The chat was deleted.'),
          ready: () => client.ready(),
        };
      },
    });
  }

  #pass(chunk: Chunk, event: SessionEvent | null): void {
    const { known } = this.target;
    if (known && event && isDurable(event) && event.seq <= known.through) return;
    if (this.#isKnown(chunk)) return;
    if (chunk.type === 'start-step') this.#isStepFinished = false;
    this.client.chunk(chunk);
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
    if (status.kind !== 'blocked' || !this.reader.follows(status.turn)) return;
    if (!this.#isStepFinished) this.client.chunk({ type: 'finish-step' });
    this.client.chunk({ type: 'finish', finishReason: 'tool-calls' });
    this.#end();
  }

  #fail(errorText: string): void {
    this.client.chunk({ type: 'error', errorText });
    this.#end();
  }

  #end(): void {
    this.reader.stop();
    this.client.ended();
  }
}
