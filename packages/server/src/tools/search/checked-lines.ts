/**
 * A search process opens files by path, and a folder on the way may be swapped for a link in the meantime. So
 * its matches are only claims: a match counts if the file, resolved here, contains the same line, and that
 * line is shown.
 */
import { Fault } from '@parlance/protocol';
import { type Entry, openForReading, resolvePath } from '../confined-path.ts';
import { isHighSurrogate } from '../cut.ts';
import { type Bounds, errorCode } from '../paths.ts';
import type { Match } from './matches.ts';

/** Minimum that both search programs show of a long line. */
const COMPARED_CHARACTERS = 100;
const SHOWN_CHARACTERS = 300;
const FILE_BYTES = 6_000_000;

export class CheckedLines {
  readonly #bounds: Bounds;
  /** the file of the last match: matches are grouped by file */
  #path: string | null = null;
  #lines: readonly string[] = [];

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** "number:text", or null if the file does not contain the match. */
  async confirm({ path, line }: Match): Promise<string | null> {
    if (this.#path !== path) {
      this.#lines = await this.#read(path);
      this.#path = path;
    }
    const colon = line.indexOf(':');
    const text = this.#lines[Number(line.slice(0, colon)) - 1];
    const claimed = line
      .slice(colon + 1)
      .trimEnd()
      .slice(0, COMPARED_CHARACTERS);
    if (text === undefined || !text.startsWith(claimed)) return null;
    return `${line.slice(0, colon)}:${shortened(text)}`;
  }

  async #read(path: string): Promise<string[]> {
    let entry: Entry | null = null;
    try {
      entry = await resolvePath(this.#bounds, path);
      if (entry.linked) return [];
      const file = await openForReading(this.#bounds, entry);
      try {
        const found = await file.stat();
        if (!found.isFile() || found.size > FILE_BYTES) return [];
        return decoded(await file.readFile()).split('\n');
      } finally {
        await file.close();
      }
    } catch (thrown) {
      // The file was removed, swapped or hidden: no match.
      if (thrown instanceof Fault || errorCode(thrown) !== undefined) return [];
      throw thrown;
    } finally {
      await entry?.[Symbol.asyncDispose]();
    }
  }
}

/** Decodes like ripgrep: by the byte order mark. */
function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const wide =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null;
  return new TextDecoder(wide ?? 'utf-8').decode(bytes);
}

function shortened(line: string): string {
  const text = line.trimEnd();
  if (text.length <= SHOWN_CHARACTERS) return text;
  const end = isHighSurrogate(text.charCodeAt(SHOWN_CHARACTERS - 1))
    ? SHOWN_CHARACTERS - 1
    : SHOWN_CHARACTERS;
  return `${text.slice(0, end)} [… ${text.length - end} characters left out …]`;
}
