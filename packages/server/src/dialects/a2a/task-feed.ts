/** Follows one task of a session: frames are held until they are read. */
import type { ConnectionId } from '@parlance/protocol';
import type { SessionRef } from '../../core/index.ts';
import type { Pieces, Subscriber } from '../../http/connection.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { isInterrupted, type Message, type StreamResponse, type Task, taskIdOf } from './objects.ts';
import type { State } from './projection.ts';

/** Takes an encoded frame; returns false if it was rejected. */
export type Sink = (text: string, frame: StreamResponse, pieces?: Pieces) => boolean;

type BufferedEvent = Parameters<Sink>;

export class TaskFeed implements Subscriber {
  readonly id = crypto.randomUUID() as string as ConnectionId;
  open = true;
  /** Resolves when the task has ended or waits for input, and the reader has been sent that state. */
  readonly settled: Promise<void>;
  readonly #settles = Promise.withResolvers<void>();
  readonly #held: BufferedEvent[] = [];
  #sink: Sink | null = null;
  /** the task before the client's own message to it was accepted */
  #opening: Task | null = null;

  constructor(
    private readonly hub: SubscriptionHub<State>,
    private readonly about: { readonly ref: SessionRef; readonly taskId: string },
  ) {
    this.settled = this.#settles.promise;
  }

  /** Sends the task first, if it is unfinished. */
  subscribe(): Promise<void> {
    return this.hub.subscribe(this.about.ref, this);
  }

  /** the task when it was subscribed to; null if it was not running */
  get task(): Task | null {
    const first = this.#held[0]?.[1];
    return first && 'task' in first ? first.task : null;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** The client answers the task with these messages: the stream starts with the task after them. */
  answering(messages: readonly Message[]): void {
    const { task } = this;
    if (!task) return;
    this.#held.shift();
    this.#opening = { ...task, history: [...(task.history ?? []), ...messages] };
  }

  /** Sends the held frames, then later ones. */
  pipe(sink: Sink): void {
    this.#sink = sink;
    for (const held of this.#held.splice(0)) this.#pass(held);
  }

  send(text: string, frame: object, pieces?: Pieces): void {
    const response = frame as StreamResponse;
    if (!this.open || taskIdOf(response) !== this.about.taskId) return;
    if (this.#opening && 'statusUpdate' in response) {
      const opening: StreamResponse = {
        task: { ...this.#opening, status: response.statusUpdate.status },
      };
      this.#opening = null;
      this.#take([JSON.stringify(opening), opening]);
      if (!isInterrupted(response.statusUpdate.status.state)) return;
    }
    this.#take([text, response, pieces]);
  }

  close(): void {
    this.open = false;
    this.hub.leave(this);
  }

  #take(held: BufferedEvent): void {
    if (this.#sink) this.#pass(held);
    else this.#held.push(held);
  }

  #pass(held: BufferedEvent): void {
    const [, response] = held;
    if (!this.#sink?.(...held)) {
      // Later frames must not be sent: the reader would miss one.
      this.close();
    } else if ('statusUpdate' in response && isInterrupted(response.statusUpdate.status.state)) {
      this.#settles.resolve();
    }
  }
}
