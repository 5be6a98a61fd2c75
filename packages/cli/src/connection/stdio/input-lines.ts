/** Lines of stdin as bytes, one protocol message each. */

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
