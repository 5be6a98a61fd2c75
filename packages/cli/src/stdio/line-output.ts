/** Writes lines to stdout, one protocol message each. Nothing else may be written to it. */
import type { Writable } from 'node:stream';

/** Maximum number of buffered bytes for a slow reader. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

export class LineOutput {
  readonly #stream: Writable;
  readonly #gone = Promise.withResolvers<string>();
  #isGone = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', () => this.#end('standard output was closed'));
  }

  /** Resolves with the reason if the reader is gone, or too far behind. */
  get gone(): Promise<string> {
    return this.#gone.promise;
  }

  /** The text must not contain a line feed. */
  write(text: string): void {
    this.writeText(`${text}\n`);
  }

  /** Writes text unchanged. */
  writeText(text: string): void {
    if (this.#isGone) return;
    this.#stream.write(text);
    if (this.#stream.writableLength > MAX_UNREAD_BYTES)
      this.#end('standard output is not being read fast enough');
  }

  /** Resolves when everything has been written, or the reader is gone. */
  async flushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stream.write('', () => resolve());
    await Promise.race([promise, this.gone]);
  }

  #end(reason: string): void {
    this.#isGone = true;
    this.#gone.resolve(reason);
  }
}
