/** Lines of a patch as coloured pieces, with what differs from the line beside them marked. Pure. */
import type { Run } from './patch-rows.ts';

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
