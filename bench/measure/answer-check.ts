/**
 * Reads the tokens of an answer, however the server split or joined them, and checks that each token arrived
 * once and in order. A token is `<number>:<microseconds at which it was sent> `.
 */
export const tokenText = (number: number, leftAt: number): string => `${number}:${leftAt} `;

export type Verdict = { readonly received: number; readonly missing: number; readonly misplaced: number };

export class AnswerCheck {
  #rest = '';
  #next = 0;
  #misplaced = 0;
  readonly #seen: Uint8Array;

  constructor(
    readonly expected: number,
    /** receives the delays of all tokens, in microseconds */
    private readonly delays: number[],
  ) {
    this.#seen = new Uint8Array(expected);
  }

  receive(text: string, arrivedAt: number): void {
    const all = this.#rest === '' ? text : this.#rest + text;
    let from = 0;
    for (let end = all.indexOf(' '); end !== -1; end = all.indexOf(' ', from)) {
      this.#take(all.slice(from, end), arrivedAt);
      from = end + 1;
    }
    this.#rest = from === all.length ? '' : all.slice(from);
  }

  #take(token: string, arrivedAt: number): void {
    const colon = token.indexOf(':');
    const number = Number(token.slice(0, colon));
    const leftAt = Number(token.slice(colon + 1));
    if (colon < 1 || !Number.isInteger(number) || !Number.isInteger(leftAt) || this.#seen[number] !== 0) {
      this.#misplaced++; // no token, one that came before, or one too many
      return;
    }
    this.#seen[number] = 1;
    if (number !== this.#next) this.#misplaced++;
    this.#next = number + 1;
    this.delays.push(arrivedAt - leftAt);
  }

  verdict(): Verdict {
    const received = this.#seen.reduce((sum, seen) => sum + seen, 0);
    const misplaced = this.#misplaced + (this.#rest.trim() === '' ? 0 : 1);
    return { received, missing: this.expected - received, misplaced };
  }
}
