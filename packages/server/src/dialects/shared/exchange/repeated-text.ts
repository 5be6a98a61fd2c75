/** A text that the model may repeat after a restart: compares the repetition with what was already sent. */
import { Fault } from '@parlance/protocol';

export const changed = (): Fault =>
  new Fault('provider_unavailable', 'The answer was interrupted, and the model started a different one.');

export class RepeatedText {
  value = '';
  /** length of the text that the model has produced since the last restart */
  #position = 0;
  /** length of the text of completed steps, which is not repeated */
  #settled = 0;

  get isEmpty(): boolean {
    return this.#position === 0;
  }

  /** Returns the new part. Throws if the text differs from what was produced before the restart. */
  append(text: string): string {
    const left = this.value.length - this.#position;
    const repeated = left === 0 ? '' : text.slice(0, left);
    if (repeated !== '' && this.value.slice(this.#position, this.#position + repeated.length) !== repeated)
      throw changed();
    const fresh = repeated === '' ? text : text.slice(repeated.length);
    this.value += fresh;
    this.#position += text.length;
    return fresh;
  }

  /** `keep`: the text has been sent already. */
  restart(keep: boolean): void {
    if (!keep) this.value = this.value.slice(0, this.#settled);
    this.#position = this.#settled;
  }

  /** Throws if the repetition is shorter than the text before the restart. */
  settle(): void {
    if (this.#position < this.value.length) throw changed();
    this.#settled = this.#position;
  }
}
