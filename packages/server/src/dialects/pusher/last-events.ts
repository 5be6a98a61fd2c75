/** The last event of each cache channel, for later subscribers. */
import { LruMap } from '../../lib/lru-map.ts';
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';
import type { LastEvent } from './node-messages.ts';

export class LastEvents {
  readonly #events: LruMap<{ readonly text: string; readonly at: number }>;
  /** until this time events of other nodes may have been missed */
  #incompleteUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly limits: Limits,
  ) {
    this.#events = new LruMap(limits.rememberedChannels);
  }

  remember(channel: string, text: string): void {
    this.learn(channel, { text, ageMs: 0 });
  }

  /** Adds an event that this node may have missed. The newer one is kept. */
  learn(channel: string, { text, ageMs }: LastEvent): void {
    const at = this.clock.now() - ageMs;
    if (at >= (this.#events.get(channel)?.at ?? at)) this.#events.set(channel, { text, at });
  }

  recall(channel: string): LastEvent | null {
    const event = this.#events.get(channel);
    if (!event) return null;
    const ageMs = this.clock.now() - event.at;
    if (ageMs < this.limits.rememberedMs) return { text: event.text, ageMs };
    this.#events.delete(channel);
    return null;
  }

  /** False if another node may have a later event. */
  isComplete(channel: string): boolean {
    const event = this.#events.get(channel);
    return event !== undefined && event.at > this.#incompleteUntil;
  }

  /** Events of other nodes may have been missed until now. */
  missedSome(): void {
    this.#incompleteUntil = this.clock.now();
  }
}
