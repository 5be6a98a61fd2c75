/** A patch as rows, old beside new. No text is dropped: a line that does not parse is shown as it is. */

import type { Ask, Json, JsonObject } from '@parlance/protocol';
import * as patch from '@parlance/protocol/patch';

export type Line = {
  readonly text: string;
  /** range that differs from the aligned line: from, to */
  readonly mark: readonly [number, number] | null;
};

export type Run =
  | { readonly kind: 'keep'; readonly lines: readonly string[] }
  | { readonly kind: 'change'; readonly removed: readonly Line[]; readonly added: readonly Line[] }
  /** the header of a hunk */
  | { readonly kind: 'hunk'; readonly text: string }
  /** a line that does not parse */
  | { readonly kind: 'note'; readonly text: string };

export type PatchedFile = Omit<patch.PatchedFile, 'lines'> & {
  readonly runs: readonly Run[];
  readonly removed: number;
  readonly added: number;
};

const WORD = /\w/;

export const filesOf = (text: string): PatchedFile[] =>
  patch.patchedFiles(text).map(({ lines, ...file }) => {
    const runs = runsOf(lines);
    const count = (side: 'removed' | 'added') =>
      runs.reduce((sum, run) => sum + (run.kind === 'change' ? run[side].length : 0), 0);
    return { ...file, runs, removed: count('removed'), added: count('added') };
  });

function runsOf(lines: readonly patch.ShownLine[]): Run[] {
  const runs: Run[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  let kept: string[] = [];
  const close = () => {
    if (kept.length > 0) runs.push({ kind: 'keep', lines: kept });
    if (removed.length + added.length > 0) runs.push(changed(removed, added));
    [removed, added, kept] = [[], [], []];
  };
  for (const { kind, text } of lines) {
    switch (kind) {
      case 'remove':
        // A removed line after an added one starts the next change.
        if (kept.length + added.length > 0) close();
        removed.push(text);
        break;
      case 'add':
        if (kept.length > 0) close();
        added.push(text);
        break;
      case 'keep':
        if (removed.length + added.length > 0) close();
        kept.push(text);
        break;
      case 'hunk':
      case 'other':
        close();
        runs.push({ kind: kind === 'hunk' ? 'hunk' : 'note', text });
    }
  }
  close();
  return runs;
}

function changed(removed: readonly string[], added: readonly string[]): Run {
  const marks = removed.map((line, at) => marksOf(line, added[at]));
  return {
    kind: 'change',
    removed: removed.map((text, at) => ({ text, mark: marks[at]?.[0] ?? null })),
    added: added.map((text, at) => ({ text, mark: marks[at]?.[1] ?? null })),
  };
}

/** The range between the common prefix and suffix; none if the lines share nothing. */
function marksOf(
  before: string,
  after: string | undefined,
): [[number, number], [number, number]] | undefined {
  if (after === undefined || before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  // Mark whole words.
  while (head > 0 && WORD.test(before.charAt(head - 1))) head--;
  while (tail > 0 && WORD.test(before.charAt(before.length - tail))) tail--;
  if (before.slice(0, head).trim() === '' && before.slice(before.length - tail).trim() === '')
    return undefined;
  return [
    [head, before.length - tail],
    [head, after.length - tail],
  ];
}

/** Number of rows of the runs, side by side. */
export function heightOf(run: Run): number {
  switch (run.kind) {
    case 'hunk':
    case 'note':
      return 1;
    case 'keep':
      return run.lines.length;
    case 'change':
      return Math.max(run.removed.length, run.added.length);
  }
}

// A file of a patch with what is known about it from before the patch. Pure.

export type KnownFile = {
  readonly file: PatchedFile;
  /** the line at which each hunk begins; empty if it is not known */
  readonly hunks: readonly number[];
};

/** A patch may name a file twice: what is known is matched in its order. */
export function withContent(files: readonly PatchedFile[], known: Ask['files'] = []): KnownFile[] {
  const left = [...known];
  return files.map((file) => {
    const index = left.findIndex(({ path }) => path === file.path);
    const [found] = index < 0 ? [] : left.splice(index, 1);
    if (file.change !== 'delete') return { file, hunks: found?.hunks ?? [] };
    return { file: found?.content ? deleted(file, found.content) : file, hunks: [] };
  });
}

function deleted(file: PatchedFile, content: string): PatchedFile {
  const lines = content.replace(/\r?\n$/, '').split(/\r?\n/);
  const removed = lines.map((text) => ({ text, mark: null }));
  return { ...file, runs: [{ kind: 'change', removed, added: [] }, ...file.runs], removed: lines.length };
}

/** Files in the result of a patch that ran without approval. The result of a tool can be anything. */
export function reportedFiles(data: JsonObject | undefined): Ask['files'] {
  return Array.isArray(data?.files) ? data.files.flatMap(reportedFile) : undefined;
}

function reportedFile(value: Json): NonNullable<Ask['files']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { path, hunks, content } = value;
  if (typeof path !== 'string') return [];
  if (typeof content === 'string') return [{ path, content }];
  if (!Array.isArray(hunks)) return [];
  return [{ path, hunks: hunks.filter((line) => typeof line === 'number') }];
}

const BY_NAME: Readonly<Record<string, string>> = { dockerfile: 'dockerfile', makefile: 'makefile' };

/** A name that the highlighter may know, such as `ts`; '' if the path has no ending. */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1)?.toLowerCase() ?? '';
  return BY_NAME[name] ?? /[^.]\.([a-z\d]{1,8})$/.exec(name)?.[1] ?? '';
}

export function firstRows(runs: readonly Run[], most: number): Run[] {
  const first: Run[] = [];
  let left = most;
  for (const run of runs) {
    if (left <= 0) break;
    first.push(cut(run, left));
    left -= heightOf(run);
  }
  return first;
}

function cut(run: Run, most: number): Run {
  switch (run.kind) {
    case 'hunk':
    case 'note':
      return run;
    case 'keep':
      return { ...run, lines: run.lines.slice(0, most) };
    case 'change':
      return { ...run, removed: run.removed.slice(0, most), added: run.added.slice(0, most) };
  }
}

// Line numbers of a patch, from where its hunks match the file. Pure.

/** A run with the numbers of its first line before and after the patch; null where they are not known. */
export type NumberedRun = {
  readonly run: Run;
  readonly before: number | null;
  readonly after: number | null;
};

/** Runs below one header, or below several that follow each other. */
type Hunk = { readonly runs: readonly Run[]; readonly start: number | undefined };

/** `starts`: the line of the file at which each hunk of an update begins, from 1 */
export function numberedRuns({ change, runs }: PatchedFile, starts: readonly number[] = []): NumberedRun[] {
  if (change === 'add') return counted(runs, null, 1);
  if (change === 'delete') return counted(runs, 1, null);
  const hunks = hunksOf(runs).map((group, index): Hunk => ({ runs: group, start: starts[index] }));
  return hunks.flatMap(({ runs: group, start }) =>
    start === undefined ? counted(group, null, null) : counted(group, start, start + shiftAt(hunks, start)),
  );
}

/** How many lines the hunks above add. */
const shiftAt = (hunks: readonly Hunk[], line: number): number =>
  hunks
    .filter(({ start }) => start !== undefined && start < line)
    .flatMap(({ runs }) => runs)
    .reduce((sum, run) => sum + linesAfter(run) - linesBefore(run), 0);

function hunksOf(runs: readonly Run[]): Run[][] {
  const hunks: Run[][] = [];
  let last: Run['kind'] | null = null;
  for (const run of runs) {
    const begins = run.kind === 'hunk' ? last !== 'hunk' : last === null;
    if (begins) hunks.push([run]);
    else hunks.at(-1)?.push(run);
    last = run.kind;
  }
  return hunks;
}

function counted(runs: readonly Run[], before: number | null, after: number | null): NumberedRun[] {
  let [old, next] = [before, after];
  return runs.map((run) => {
    const numbered = { run, before: old, after: next };
    old = old === null ? null : old + linesBefore(run);
    next = next === null ? null : next + linesAfter(run);
    return numbered;
  });
}

const linesBefore = (run: Run): number =>
  run.kind === 'keep' ? run.lines.length : run.kind === 'change' ? run.removed.length : 0;

const linesAfter = (run: Run): number =>
  run.kind === 'keep' ? run.lines.length : run.kind === 'change' ? run.added.length : 0;

// Lines of a patch as coloured pieces, with what differs from the line beside them marked. Pure.

/** Text in one colour. */
export type Piece = { readonly text: string; readonly className: string };
export type MarkedPiece = Piece & { readonly isMarked: boolean };

/** The pieces of each line of code; null if the language is unknown. */
export type Colouring = (code: string) => readonly (readonly Piece[])[] | null;

/** Each line of each run, by its side. Both sides are coloured as whole texts: a comment may span lines. */
export type ColouredRun = { readonly before: readonly Piece[][]; readonly after: readonly Piece[][] };

export function colouredRuns(runs: readonly Run[], colour: Colouring): readonly ColouredRun[] {
  const sides = runs.map((run) => ({ before: textsOf(run, 'removed'), after: textsOf(run, 'added') }));
  const before = dealt(
    sides.map((side) => side.before),
    colour,
  );
  const after = dealt(
    sides.map((side) => side.after),
    colour,
  );
  return runs.map((_, index) => ({ before: before[index] ?? [], after: after[index] ?? [] }));
}

/** `added`: the lines of the run as they are after the patch */
function textsOf(run: Run, side: 'removed' | 'added'): readonly string[] {
  if (run.kind === 'keep') return run.lines;
  return run.kind === 'change' ? run[side].map(({ text }) => text) : [];
}

/** Colours all lines together, and deals them out again. */
function dealt(groups: readonly (readonly string[])[], colour: Colouring): Piece[][][] {
  const lines = groups.flat();
  const coloured = colour(lines.join('\n'));
  let next = 0;
  return groups.map((texts) =>
    texts.map((text) => {
      const pieces = coloured?.[next++];
      return pieces ? [...pieces] : [{ text, className: '' }];
    }),
  );
}

/** Splits pieces at the ends of the marked range. */
export function markedPieces(
  pieces: readonly Piece[],
  mark: readonly [number, number] | null,
): readonly MarkedPiece[] {
  const [from, to] = mark ?? [0, 0];
  const result: MarkedPiece[] = [];
  let at = 0;
  for (const { text, className } of pieces) {
    const cuts = [0, from - at, to - at, text.length].map((cut) => Math.min(Math.max(cut, 0), text.length));
    const [start = 0, begin = 0, end = 0, stop = 0] = cuts;
    for (const [left, right, isMarked] of [
      [start, begin, false],
      [begin, end, true],
      [end, stop, false],
    ] as const)
      if (right > left) result.push({ text: text.slice(left, right), className, isMarked });
    at += text.length;
  }
  return result;
}
