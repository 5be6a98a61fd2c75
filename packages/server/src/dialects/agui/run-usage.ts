/** The token usage of a run. */
import type { Usage } from '@parlance/protocol';
import type { TokenUsage } from './events.ts';

export class RunUsage {
  #input = 0;
  #output = 0;
  #cached = 0;
  #reasoning = 0;

  add({ inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 }: Usage): void {
    this.#input += inputTokens;
    this.#output += outputTokens;
    this.#cached += cachedTokens;
    this.#reasoning += reasoningTokens;
  }

  /** Absent if no model was called. */
  get usage(): { readonly usage?: readonly TokenUsage[] } {
    if (this.#input + this.#output === 0) return {};
    const usage: TokenUsage = {
      inputTokens: this.#input,
      outputTokens: this.#output,
      totalTokens: this.#input + this.#output,
      ...(this.#cached > 0 && { cachedInputTokens: this.#cached }),
      ...(this.#reasoning > 0 && { reasoningTokens: this.#reasoning }),
    };
    return { usage: [usage] };
  }
}
