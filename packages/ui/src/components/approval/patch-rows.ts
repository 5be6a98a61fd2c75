/** A patch as rows, old beside new. No text is dropped: a line that does not parse is shown as it is. */

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
