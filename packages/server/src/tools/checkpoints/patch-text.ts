/** The difference of two texts as a patch, for previews. */
import { visible, visibleLine } from '@parlance/protocol';

const CONTEXT = 3;
/** Cells of the table of common lines; above it the whole middle counts as replaced. */
const MAX_CELLS = 1_000_000;

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** Null if a content is no text in UTF-8, or the patch is longer than `max` characters. */
export function patchText(
  path: string,
  before: Uint8Array | null,
  after: Uint8Array | null,
  max: number,
): string | null {
  const [one, other] = [linesOf(before), linesOf(after)];
  if (!one || !other) return null;
  const lines = difference(one, other);
  const shown = hunks(lines).map((hunk) =>
    ['@@', ...hunk.map(({ sign, text }) => sign + visible(text))].join('\n'),
  );
  const name = visibleLine(path);
  const body =
    before === null
      ? [`*** Add File: ${name}`, ...other.map((line) => `+${visible(line)}`)]
      : [`*** Update File: ${name}`, ...shown];
  const text = ['*** Begin Patch', ...body, '*** End Patch', ''].join('\n');
  return text.length > max ? null : text;
}

function linesOf(content: Uint8Array | null): string[] | null {
  if (content === null) return [];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    if (text.includes('\0')) return null;
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines;
  } catch {
    return null;
  }
}

function difference(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail))
    tail++;
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  const line = (sign: Line['sign']) => (text: string) => ({ sign, text });
  return [
    ...before.slice(0, head).map(line(' ')),
    ...(removed.length * added.length > MAX_CELLS
      ? [...removed.map(line('-')), ...added.map(line('+'))]
      : middle(removed, added)),
    ...before.slice(before.length - tail).map(line(' ')),
  ];
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [one, other] = [before[i], after[j]];
    if (one !== undefined && one === other) {
      lines.push({ sign: ' ', text: one });
      i++;
      j++;
    } else if (
      one !== undefined &&
      (other === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push({ sign: '-', text: one });
      i++;
    } else {
      lines.push({ sign: '+', text: other ?? '' });
      j++;
    }
  }
  return lines;
}

/** Changed lines with a few around them. */
function hunks(lines: readonly Line[]): Line[][] {
  const changed = lines.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  const found: { from: number; to: number }[] = [];
  for (const index of changed) {
    const last = found.at(-1);
    if (last && index - CONTEXT <= last.to) last.to = index + CONTEXT + 1;
    else found.push({ from: Math.max(0, index - CONTEXT), to: index + CONTEXT + 1 });
  }
  return found.map(({ from, to }) => lines.slice(from, to));
}
