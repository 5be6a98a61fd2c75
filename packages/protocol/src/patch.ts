/**
 * The patch format of `apply_patch`: `parsePatch` reads what is applied, `patchedFiles` what is shown, also of text that is
 * no valid patch. Without zod, so that browsers can load it.
 */

/** The text is not a patch. */
export class PatchError extends Error {}

export type Line = { readonly kind: 'keep' | 'remove' | 'add'; readonly text: string };

export type Hunk = {
  /** lines to find, in order, before the hunk's own */
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
/** Header of a unified diff: its line numbers are a guess of the model, so only the lines are searched. */
const UNIFIED_HEADER = /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/;

const FILE_HEADER = /^\*\*\* (Add|Delete|Update) File:/;
/** At the start of a line any `@@` counts. Indented, it must stand alone: ` @@count = 0` is a line of Ruby. */
const HUNK_HEADER = /^@@|^\s+@@(\s|$)/;

const KINDS: Record<string, Line['kind']> = { ' ': 'keep', '-': 'remove', '+': 'add' };

/**
 * Ignores blanks around marker and header lines. An indented file header inside a hunk may also be a context
 * line: it is parsed as a header, so that the result names every path of either reading.
 */
export function parsePatch(patch: string): Change[] {
  try {
    return parseAs(patch, 'header').changes;
  } catch (thrown) {
    const other = contextReading(patch);
    if (!other) throw thrown;
    return other;
  }
}

/** The patch with indented file headers parsed as context; null if it has none, or is invalid that way. */
export function contextReading(patch: string): Change[] | null {
  try {
    const { changes, ambiguous } = parseAs(patch, 'context');
    return ambiguous ? changes : null;
  } catch (thrown) {
    if (thrown instanceof PatchError) return null;
    throw thrown;
  }
}

function parseAs(patch: string, padded: 'header' | 'context'): { changes: Change[]; ambiguous: boolean } {
  const reader = new Reader(patch.trim().split(/\r?\n/), padded);
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
  return { changes, ambiguous: reader.ambiguous };
}

/** Every path that the patch names, in order. */
export const pathsOf = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) =>
    change.kind === 'update' && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path],
  );

function parseChange(line: string, reader: Reader): Change {
  // A header without a path ends with a blank that trimming would remove.
  const header = `${line.trim()} `;
  const path = (prefix: string) => {
    const name = header.slice(prefix.length).trim();
    if (name === '') throw malformed(reader.line, 'a path is missing');
    return name;
  };
  if (header.startsWith(ADD)) return { kind: 'add', path: path(ADD), lines: parseAdded(reader) };
  if (header.startsWith(DELETE)) return { kind: 'delete', path: path(DELETE) };
  if (header.startsWith(UPDATE)) return parseUpdate(path(UPDATE), reader);
  throw malformed(reader.line, `${JSON.stringify(line)} is not the header of a file`);
}

function parseAdded(reader: Reader): string[] {
  const lines: string[] = [];
  for (let line = reader.peek(); line !== undefined && !isMarker(line); line = reader.peek()) {
    reader.next();
    if (line.startsWith('+')) lines.push(line.slice(1));
    else if (line.trim() !== '' || reader.peekText()?.startsWith('+')) {
      throw malformed(reader.line, 'each line of a new file must start with +');
    }
  }
  return lines;
}

function parseUpdate(path: string, reader: Reader): Change {
  const next = `${reader.peek()?.trim() ?? ''} `;
  const moveTo = next.startsWith(MOVE) ? next.slice(MOVE.length).trim() : undefined;
  if (moveTo !== undefined) reader.next();
  if (moveTo === '') throw malformed(reader.line, 'a path is missing');
  const hunks: Hunk[] = [];
  while (reader.peekText() !== undefined && !reader.atMarker()) {
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
  for (let line = reader.peek(); line !== undefined && HUNK_HEADER.test(line); line = reader.peek()) {
    reader.next();
    headed = true;
    const header = line.trim();
    const anchor = UNIFIED_HEADER.test(header) ? '' : header.slice(2).replace(/^ /, '');
    if (anchor.trim() !== '') seek.push(anchor);
  }
  if (!headed && !first) throw malformed(reader.line + 1, 'a hunk must start with @@');
  const lines: Line[] = [];
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (HUNK_HEADER.test(line) || (line.trim() !== '' && reader.atMarker())) break;
    reader.next();
    const kind = KINDS[line.charAt(0)];
    if (kind) lines.push({ kind, text: line.slice(1) });
    // An empty line stands for an empty line of the file, unless it only precedes a marker.
    else if (line === '') {
      const setsOff = reader.atMarker() && reader.peekText()?.trim() !== END_OF_FILE;
      if (!setsOff) lines.push({ kind: 'keep', text: '' });
    } else throw malformed(reader.line, 'a line of a hunk must start with a blank, - or +');
  }
  const atEnd = reader.peek()?.trim() === END_OF_FILE;
  if (atEnd) reader.next();
  if (lines.length === 0) throw malformed(reader.line, 'a hunk has no lines');
  return { seek, lines, atEnd };
}

const isMarker = (line: string): boolean => line.trimStart().startsWith('***');

class Reader {
  /** number of the last line read, from 1 */
  line = 0;
  /** whether an indented file header was found inside a hunk */
  ambiguous = false;
  readonly #lines: readonly string[];
  readonly #padded: 'header' | 'context';
  constructor(lines: readonly string[], padded: 'header' | 'context') {
    this.#lines = lines;
    this.#padded = padded;
  }
  next(): string | undefined {
    return this.#lines[this.line++];
  }
  peek(): string | undefined {
    return this.#lines[this.line];
  }
  /** The next line that is not empty. */
  peekText(): string | undefined {
    return this.#textAt(this.line);
  }
  #textAt(from: number): string | undefined {
    for (let at = from; at < this.#lines.length; at++) {
      const line = this.#lines[at];
      if (line?.trim()) return line;
    }
    return undefined;
  }
  /** Whether the next non-empty line is a marker, seen from inside a hunk, where a leading blank means context. */
  atMarker(): boolean {
    const line = this.peekText();
    if (line === undefined || line.startsWith('***')) return line !== undefined;
    const text = line.trim();
    const after = this.#textAt(this.#lines.indexOf(line, this.line) + 1);
    if (text === END) return after === undefined;
    if (text === END_OF_FILE) return after === undefined || isMarker(after) || HUNK_HEADER.test(after);
    if (!FILE_HEADER.test(text)) return false;
    this.ambiguous = true;
    return this.#padded === 'header';
  }
}

const malformed = (line: number, reason: string) =>
  new PatchError(`The patch cannot be read at line ${line}: ${reason}.`);

// What is shown.

/** `other`: a line that does not parse, with all its characters */
export type ShownLine = { readonly kind: Line['kind'] | 'hunk' | 'other'; readonly text: string };

export type PatchedFile = {
  /** `unknown`: lines outside of any file */
  readonly change: Change['kind'] | 'unknown';
  readonly path: string;
  readonly moveTo: string | null;
  readonly lines: readonly ShownLine[];
};

const SHOWN_HEADER = /^\s*\*\*\* (Add|Update|Delete) File: (.*)$/;
const FRAME: ReadonlySet<string> = new Set([BEGIN, END]);
const CHANGES = { Add: 'add', Update: 'update', Delete: 'delete' } as const;

/** The files of a patch, in order. No text is dropped: nobody should approve what they could not see. */
export function patchedFiles(patch: string): PatchedFile[] {
  type Builder = PatchedFile & { moveTo: string | null; readonly lines: ShownLine[] };
  const files: Builder[] = [];
  for (const line of patch.trim().split(/\r?\n/)) {
    const [, change, path = ''] = SHOWN_HEADER.exec(line) ?? [];
    const current = files.at(-1);
    if (change !== undefined) {
      const kind = CHANGES[change as keyof typeof CHANGES];
      files.push({ change: kind, path: path.trim(), moveTo: null, lines: [] });
    } else if (FRAME.has(line.trim())) continue;
    else if (current?.change === 'update' && current.lines.length === 0 && line.trimStart().startsWith(MOVE))
      current.moveTo = line.trimStart().slice(MOVE.length).trim();
    else if (current) current.lines.push(shownLine(line));
    else if (line.trim() !== '')
      files.push({ change: 'unknown', path: '', moveTo: null, lines: [shownLine(line)] });
  }
  return files;
}

function shownLine(line: string): ShownLine {
  if (HUNK_HEADER.test(line)) return { kind: 'hunk', text: line.trim().slice(2).trim() };
  const kind = line === '' ? 'keep' : KINDS[line.charAt(0)];
  return kind ? { kind, text: line.slice(1) } : { kind: 'other', text: line };
}
