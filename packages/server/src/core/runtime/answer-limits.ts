/** Enforces the limits of one answer. */
import { type AnswerLimit, type AnswerLimits, answerTooLong } from '../ports/answer-limits.ts';
import type { OnDelta, Provider, ProviderEvent } from '../ports/provider.ts';

/** Overhead of a block: each block is recorded as its own event. */
const BLOCK_CHARACTERS = 256;

type BlockKind = 'text' | 'reasoning';

/** Measures one answer. */
class AnswerMeter {
  #characters = 0;
  #arguments = 0;
  #calls = 0;
  #block: BlockKind | null = null;

  constructor(private readonly limits: AnswerLimits) {}

  /** On the token path. */
  fits(kind: BlockKind, text: string): boolean {
    return this.#with(kind, text) <= this.limits.answerCharacters;
  }

  /** Counts the text and returns whether it fits. On the token path. */
  count(kind: BlockKind, text: string): boolean {
    this.#characters = this.#with(kind, text);
    this.#block = kind;
    return this.#characters <= this.limits.answerCharacters;
  }

  #with(kind: BlockKind, text: string): number {
    return this.#characters + text.length + (kind === this.#block ? 0 : BLOCK_CHARACTERS);
  }

  /** The limit that the event exceeds, or null. */
  reached(event: ProviderEvent): AnswerLimit | null {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        return this.count(event.type, event.text) ? null : 'answerCharacters';
      case 'call':
        this.#calls += 1;
        if (this.#calls > this.limits.answerCalls) return 'answerCalls';
        return this.#unseen([event.tool, event.input, event.malformed, event.sealed]);
      case 'sealed':
        this.#block = null;
        return this.#unseen(event.sealed);
      case 'retrying':
        [this.#characters, this.#arguments, this.#calls, this.#block] = [0, 0, 0, null];
        return null;
      // Counted with the call.
      case 'arguments':
      case 'ended':
      case 'failed':
        return null;
    }
  }

  #unseen(data: unknown): AnswerLimit | null {
    this.#arguments += JSON.stringify(data).length;
    return this.#arguments > this.limits.argumentCharacters ? 'argumentCharacters' : null;
  }
}

/** Wraps a provider so that an answer that exceeds a limit ends in `failed`. */
export const withinLimits = (provider: Provider, limits: AnswerLimits): Provider => ({
  get name() {
    return provider.name;
  },
  get model() {
    return provider.model;
  },
  get contextLimit() {
    return provider.contextLimit;
  },
  get counts() {
    return provider.counts ?? false;
  },
  acceptsLink: (link) => provider.acceptsLink?.(link) ?? false,
  async *stream(prompt, signal, take): AsyncGenerator<ProviderEvent, void> {
    const meter = new AnswerMeter(limits);
    // Refused text arrives again as an event.
    const counted: OnDelta | undefined =
      take && ((kind, text) => meter.fits(kind, text) && take(kind, text) && meter.count(kind, text));
    for await (const event of provider.stream(prompt, signal, counted)) {
      const limit = meter.reached(event);
      if (limit) {
        yield { type: 'failed', fault: answerTooLong(limit, limits[limit]) };
        return;
      }
      yield event;
    }
  },
});
