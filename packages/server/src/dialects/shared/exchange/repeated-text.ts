/** A text that may have to be said again from some point on: what was shown is held against what is said now. */
import { Fault } from '@parlance/protocol';

export const changed = (): Fault =>
  new Fault('provider_unavailable', 'The answer broke off, and the model then began another one.');

export class RepeatedText {
  value = '';
  /** how much of it has been said since the last restart */
  #said = 0;
  /** it is not said again up to here */
  #settled = 0;

  get isEmpty(): boolean {
    return this.#said === 0;
  }

  /** Returns what is new. Throws if it differs from what was said before the restart. */
  say(words: string): string {
    const left = this.value.length - this.#said;
    const repeated = left === 0 ? '' : words.slice(0, left);
    if (repeated !== '' && this.value.slice(this.#said, this.#said + repeated.length) !== repeated)
      throw changed();
    const fresh = repeated === '' ? words : words.slice(repeated.length);
    this.value += fresh;
    this.#said += words.length;
    return fresh;
  }

  /** `keep` is whether what was said has been shown. */
  restart(keep: boolean): void {
    if (!keep) this.value = this.value.slice(0, this.#settled);
    this.#said = this.#settled;
  }

  /** Throws if less was said than before the restart. */
  settle(): void {
    if (this.#said < this.value.length) throw changed();
    this.#settled = this.#said;
  }
}
