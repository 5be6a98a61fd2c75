/** Reads a stream line by line. */
import { CommandError } from './command-error.ts';

/** Larger than any event, to bound memory. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** A trailing line feed starts no line. Throws with the line number if a line is too long or not UTF-8. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = MAX_BYTES,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pieces: Uint8Array[] = [];
  let size = 0;
  let number = 1;

  function add(piece: Uint8Array): void {
    size += piece.length;
    if (size > maxBytes) throw new CommandError(`line ${number}: longer than ${maxBytes} bytes`, 1);
    pieces.push(piece);
  }
  function take(): string {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    size = 0;
    try {
      return decoder.decode(bytes);
    } catch (error) {
      throw new CommandError(`line ${number}: not valid UTF-8`, 1, { cause: error });
    }
  }

  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      add(chunk.subarray(from, at));
      yield take();
      number++;
      from = at + 1;
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  if (size > 0) yield take();
}
