/** Writes lines to stdout, one protocol message each. Nothing else may be written to it. */
import type { Writable } from 'node:stream';

/** Maximum number of buffered bytes for a slow reader. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

export class LineOutput {
  readonly #stream: Writable;
  readonly #closed = Promise.withResolvers<string>();
  #isClosed = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', () => this.#end('standard output was closed'));
  }

  /** Resolves with the reason if the reader is gone, or too far behind. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  /** The text must not contain a line feed. */
  write(text: string): void {
    this.writeText(`${text}\n`);
  }

  /** Writes text unchanged. */
  writeText(text: string): void {
    if (this.#isClosed) return;
    this.#stream.write(text);
    if (this.#stream.writableLength > MAX_UNREAD_BYTES)
      this.#end('standard output is not being read fast enough');
  }

  /** Resolves when everything has been written, or the reader is gone. */
  async flushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stream.write('', () => resolve());
    await Promise.race([promise, this.closed]);
  }

  #end(reason: string): void {
    this.#isClosed = true;
    this.#closed.resolve(reason);
  }
}
