/** Lines of stdin and stdout, one protocol message each. */
import type { Writable } from 'node:stream';

/** Stands for a line that is too long, whose bytes are dropped. */
export const TOO_LONG = Symbol('too long');

const LINE_FEED = 0x0a;
const isBlank = (line: Buffer): boolean =>
  line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

/** Blank lines are skipped. The last line needs no line feed. */
export async function* inputLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer | typeof TOO_LONG> {
  let pieces: Uint8Array[] = [];
  let size = 0;

  function add(piece: Uint8Array): void {
    size += piece.length;
    if (size > maxBytes) pieces = [];
    else pieces.push(piece);
  }
  function* take(): Generator<Buffer | typeof TOO_LONG> {
    const line = size > maxBytes ? TOO_LONG : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    if (line === TOO_LONG || !isBlank(line)) yield line;
  }

  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, at));
      yield* take();
      from = at + 1;
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  yield* take();
}

// Writes lines to stdout, one protocol message each. Nothing else may be written to it.

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
