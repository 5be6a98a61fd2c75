/**
 * A patch as rows, old beside new. No text is dropped: a line that does not parse is shown as it is, so that nobody
 * approves what they could not see.
 */

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

export type PatchedFile = {
  /** `unknown`: lines outside of any file */
  readonly change: 'add' | 'update' | 'delete' | 'unknown';
  readonly path: string;
  readonly moveTo: string | null;
  readonly runs: readonly Run[];
  readonly removed: number;
  readonly added: number;
};

type FileBuilder = Omit<PatchedFile, 'moveTo' | 'runs' | 'removed' | 'added'> & {
  moveTo: string | null;
  readonly lines: string[];
};

const FRAME = new Set(['*** Begin Patch', '*** End Patch']);
const HEADER = /^\s*\*\*\* (Add|Update|Delete) File: (.*)$/;
const MOVE = /^\s*\*\*\* Move to: (.*)$/;
const HUNK = /^@@|^\s+@@(\s|$)/;
const WORD = /\w/;
const CHANGES = { Add: 'add', Update: 'update', Delete: 'delete' } as const;

export function filesOf(patch: string): PatchedFile[] {
  const files: FileBuilder[] = [];
  for (const line of patch.trim().split(/\r?\n/)) {
    const header = HEADER.exec(line);
    const current = files.at(-1);
    if (header) {
      const change = CHANGES[header[1] as keyof typeof CHANGES];
      files.push({ change, path: (header[2] ?? '').trim(), moveTo: null, lines: [] });
    } else if (FRAME.has(line.trim())) continue;
    else if (current?.change === 'update' && current.lines.length === 0 && MOVE.test(line))
      current.moveTo = (MOVE.exec(line)?.[1] ?? '').trim();
    else if (current) current.lines.push(line);
    else if (line.trim() !== '') files.push({ change: 'unknown', path: '', moveTo: null, lines: [line] });
  }
  return files.map(({ lines, ...file }) => {
    const runs = runsOf(lines);
    const count = (side: 'removed' | 'added') =>
      runs.reduce((sum, run) => sum + (run.kind === 'change' ? run[side].length : 0), 0);
    return { ...file, runs, removed: count('removed'), added: count('added') };
  });
}

function runsOf(lines: readonly string[]): Run[] {
  const runs: Run[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  let kept: string[] = [];
  const close = () => {
    if (kept.length > 0) runs.push({ kind: 'keep', lines: kept });
    if (removed.length + added.length > 0) runs.push(changed(removed, added));
    [removed, added, kept] = [[], [], []];
  };
  for (const line of lines) {
    const sign = HUNK.test(line) ? '@' : line.charAt(0);
    const text = line.slice(1);
    // A removed line after an added one starts the next change.
    if (sign === '-') {
      if (kept.length + added.length > 0) close();
      removed.push(text);
    } else if (sign === '+') {
      if (kept.length > 0) close();
      added.push(text);
    } else if (sign === ' ' || line === '') {
      if (removed.length + added.length > 0) close();
      kept.push(text);
    } else {
      close();
      if (sign === '@') runs.push({ kind: 'hunk', text: line.trim().slice(2).trim() });
      else runs.push({ kind: 'note', text: line });
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
