/** The last event of each cache channel, for subscribers that come later. */
import { LruMap } from '../../lib/lru-map.ts';
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';

export class LastEvents {
  readonly #events: LruMap<{ readonly text: string; readonly at: number }>;

  constructor(
    private readonly clock: Clock,
    private readonly limits: Limits,
  ) {
    this.#events = new LruMap(limits.rememberedChannels);
  }

  remember(channel: string, text: string): void {
    this.#events.set(channel, { text, at: this.clock.now() });
  }

  recall(channel: string): string | null {
    const event = this.#events.get(channel);
    if (!event) return null;
    if (this.clock.now() - event.at < this.limits.rememberedMs) return event.text;
    this.#events.delete(channel);
    return null;
  }
}
