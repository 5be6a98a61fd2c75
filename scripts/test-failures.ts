/**
 * Extracts failures from the output of `bun test`: each failed test, each error outside of a test and each
 * crashed process, with its output. A run prints thousands of lines; for long output, only the end is kept.
 */

const FILE = /^\S+\.test\.tsx?:$/;
const RESULT = /^\((pass|skip|todo|fail)\) /;
const CRASHED = /^✗ \S+ \(worker crashed/;
const OUTSIDE = '# Unhandled error between tests';
const RULE = /^-{10,}$/;
/** Bun repeats the names at the end of a long run. */
const AGAIN = /^\d+ tests? (skipped|todo|failed):$/;
/** Only the last output of a failed test is kept. */
const MAX_LINES = 60;

export class TestFailures {
  #rest = '';
  #file = '';
  /** output since the last result, by file: several files run concurrently */
  readonly #since = new Map<string, string[]>();
  #rules = 0;
  #over = false;
  readonly #found: string[] = [];
  readonly #files: string[] = [];

  /** Processes the next chunk of output, split anywhere. */
  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  /** One text per failure, in print order. */
  get found(): readonly string[] {
    return this.#found;
  }

  /** The file of each failure. */
  get files(): readonly string[] {
    return this.#files;
  }

  #line(line: string): void {
    this.#over ||= AGAIN.test(line);
    if (this.#over) return;
    if (FILE.test(line)) {
      this.#file = line;
      return;
    }
    if (line === OUTSIDE) {
      this.#forget();
      this.#rules = 2;
    }
    const since = this.#since.get(this.#file) ?? [];
    since.push(line);
    this.#since.set(this.#file, since.slice(-MAX_LINES));
    if (line.startsWith('(fail) ') || CRASHED.test(line)) this.#keep();
    else if (RESULT.test(line)) this.#forget();
    else if (this.#rules > 0 && RULE.test(line) && --this.#rules === 0) this.#keep();
  }

  #forget(): void {
    this.#since.delete(this.#file);
  }

  #keep(): void {
    this.#files.push(this.#file.slice(0, -1));
    this.#found.push([this.#file, ...(this.#since.get(this.#file) ?? [])].join('\n'));
    this.#forget();
  }
}
