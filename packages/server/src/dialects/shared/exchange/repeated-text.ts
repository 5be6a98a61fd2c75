/** A text that the model may repeat after a restart: compares the repetition with what was already sent. */
import { Fault } from '@parlance/protocol';

export const changed = (): Fault =>
  new Fault('provider_unavailable', 'The answer was interrupted, and the model started a different one.');

export class RepeatedText {
  value = '';
  /** length of the text that the model has produced since the last restart */
  #said = 0;
  /** length of the text of completed steps, which is not repeated */
  #settled = 0;

  get isEmpty(): boolean {
    return this.#said === 0;
  }

  /** Returns the new part. Throws if the text differs from what was produced before the restart. */
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

  /** `keep`: the text has been sent already. */
  restart(keep: boolean): void {
    if (!keep) this.value = this.value.slice(0, this.#settled);
    this.#said = this.#settled;
  }

  /** Throws if the repetition is shorter than the text before the restart. */
  settle(): void {
    if (this.#said < this.value.length) throw changed();
    this.#settled = this.#said;
  }
}
