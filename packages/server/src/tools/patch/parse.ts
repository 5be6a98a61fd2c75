/** Reads a patch. Nothing here touches a file; a text that is not a patch throws a `Fault`. */
import { Fault } from '@parlance/protocol';

export type Line = { readonly kind: 'keep' | 'remove' | 'add'; readonly text: string };

export type Hunk = {
  /** lines to find, one after another, before the hunk's own */
  readonly seek: readonly string[];
  readonly lines: readonly Line[];
  /** the hunk's last line is the file's last */
  readonly atEnd: boolean;
};

export type Change =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo?: string; readonly hunks: Hunk[] };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END_OF_FILE = '*** End of File';
/** The header of a unified diff: its numbers are a guess of the writer, so only the lines are looked for. */
const UNIFIED_HEADER = /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/;

const KINDS: Record<string, Line['kind']> = { ' ': 'keep', '-': 'remove', '+': 'add' };

export function parsePatch(patch: string): Change[] {
  const reader = new Reader(patch.trim().split(/\r?\n/));
  if (reader.next()?.trim() !== BEGIN) throw malformed(1, `it must begin with "${BEGIN}"`);
  const changes: Change[] = [];
  for (;;) {
    const line = reader.next();
    if (line === undefined) throw malformed(reader.line, `it must end with "${END}"`);
    if (line.trim() === '') continue;
    if (line.trim() === END) break;
    changes.push(parseChange(line, reader));
  }
  if (reader.peek() !== undefined) throw malformed(reader.line + 1, `nothing may follow "${END}"`);
  if (changes.length === 0) throw malformed(reader.line, 'it changes no file');
  return changes;
}

/** Every path that the patch names, in order. */
export const pathsOf = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) =>
    change.kind === 'update' && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path],
  );

function parseChange(header: string, reader: Reader): Change {
  const path = (prefix: string) => {
    const name = header.slice(prefix.length).trim();
    if (name === '') throw malformed(reader.line, 'a path is missing');
    return name;
  };
  if (header.startsWith(ADD)) return { kind: 'add', path: path(ADD), lines: parseAdded(reader) };
  if (header.startsWith(DELETE)) return { kind: 'delete', path: path(DELETE) };
  if (header.startsWith(UPDATE)) return parseUpdate(path(UPDATE), reader);
  throw malformed(reader.line, `${JSON.stringify(header)} is not the header of a file`);
}

function parseAdded(reader: Reader): string[] {
  const lines: string[] = [];
  for (let line = reader.peek(); line !== undefined && !line.startsWith('***'); line = reader.peek()) {
    reader.next();
    if (line.startsWith('+')) lines.push(line.slice(1));
    else if (line.trim() !== '' || reader.peekText()?.startsWith('+')) {
      throw malformed(reader.line, 'each line of a new file must start with +');
    }
  }
  return lines;
}

function parseUpdate(path: string, reader: Reader): Change {
  const next = reader.peek();
  const moveTo = next?.startsWith(MOVE) ? next.slice(MOVE.length).trim() : undefined;
  if (moveTo !== undefined) reader.next();
  if (moveTo === '') throw malformed(reader.line, 'a path is missing');
  const hunks: Hunk[] = [];
  for (
    let line = reader.peekText();
    line !== undefined && !line.startsWith('***');
    line = reader.peekText()
  ) {
    hunks.push(parseHunk(reader, hunks.length === 0));
  }
  if (hunks.length === 0 && moveTo === undefined) {
    throw malformed(reader.line, `the update of ${path} has no hunk`);
  }
  return { kind: 'update', path, hunks, ...(moveTo === undefined ? {} : { moveTo }) };
}

function parseHunk(reader: Reader, first: boolean): Hunk {
  const seek: string[] = [];
  let headed = false;
  for (let line = reader.peek(); line?.startsWith('@@'); line = reader.peek()) {
    reader.next();
    headed = true;
    const sought = UNIFIED_HEADER.test(line) ? '' : line.slice(2).replace(/^ /, '');
    if (sought.trim() !== '') seek.push(sought);
  }
  if (!headed && !first) throw malformed(reader.line + 1, 'a hunk must start with @@');
  const lines: Line[] = [];
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (line.startsWith('@@') || line.startsWith('***')) break;
    reader.next();
    const kind = KINDS[line.charAt(0)];
    if (kind) lines.push({ kind, text: line.slice(1) });
    // An empty line is an empty line of the file whose blank was lost, unless it only sets off what follows.
    else if (line === '') {
      const after = reader.peekText();
      if (!after?.startsWith('***') || after.trim() === END_OF_FILE) lines.push({ kind: 'keep', text: '' });
    } else throw malformed(reader.line, 'a line of a hunk must start with a blank, - or +');
  }
  const atEnd = reader.peek()?.trim() === END_OF_FILE;
  if (atEnd) reader.next();
  if (lines.length === 0) throw malformed(reader.line, 'a hunk has no lines');
  return { seek, lines, atEnd };
}

class Reader {
  /** the number of the line that was read last, from 1 */
  line = 0;
  readonly #lines: readonly string[];
  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }
  next(): string | undefined {
    return this.#lines[this.line++];
  }
  peek(): string | undefined {
    return this.#lines[this.line];
  }
  /** The next line that is not empty. */
  peekText(): string | undefined {
    return this.#lines.slice(this.line).find((line) => line.trim() !== '');
  }
}

const malformed = (line: number, reason: string) =>
  new Fault('tool_invalid', `The patch cannot be read at line ${line}: ${reason}.`);
