/** The difference of two texts by lines. */
export type DiffLine = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** If comparing the changed region takes more than `maxComparisons`, all of it counts as replaced. */
export function lineDiff(
  before: readonly string[],
  after: readonly string[],
  maxComparisons: number,
): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail))
    tail++;
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  const line = (sign: DiffLine['sign']) => (text: string) => ({ sign, text });
  return [
    ...before.slice(0, head).map(line(' ')),
    ...(removed.length * added.length > maxComparisons
      ? [...removed.map(line('-')), ...added.map(line('+'))]
      : changes(removed, added)),
    ...before.slice(before.length - tail).map(line(' ')),
  ];
}

/** By the longest common subsequence. */
function changes(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [one, other] = [before[i], after[j]];
    if (one !== undefined && one === other) {
      lines.push({ sign: ' ', text: one });
      i++;
      j++;
    } else if (one !== undefined && (other === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: one });
      i++;
    } else {
      lines.push({ sign: '+', text: other ?? '' });
      j++;
    }
  }
  return lines;
}

const CONTEXT_LINES = 3;

/** The positions of changed lines with a few around them. */
export function hunksOf(lines: readonly DiffLine[]): { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    const last = found.at(-1);
    const to = Math.min(lines.length, index + CONTEXT_LINES + 1);
    if (last && index - CONTEXT_LINES <= last.to) last.to = to;
    else found.push({ from: Math.max(0, index - CONTEXT_LINES), to });
  }
  return found;
}
