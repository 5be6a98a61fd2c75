/** The last event of each cache channel, for who subscribes later. */
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';

export class LastEvents {
  /** in the order in which they were last written */
  readonly #events = new Map<string, { readonly text: string; readonly at: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: Limits,
  ) {}

  remember(channel: string, text: string): void {
    this.#events.delete(channel);
    this.#events.set(channel, { text, at: this.clock.now() });
    for (const oldest of this.#events.keys()) {
      if (this.#events.size <= this.limits.rememberedChannels) return;
      this.#events.delete(oldest);
    }
  }

  recall(channel: string): string | null {
    const event = this.#events.get(channel);
    if (!event) return null;
    if (this.clock.now() - event.at < this.limits.rememberedMs) return event.text;
    this.#events.delete(channel);
    return null;
  }
}
