/** The difference of two texts as a patch, for previews. */
import { visible, visibleLine } from '@parlance/protocol';
import { hunksOf, lineDiff } from '../../lib/line-diff.ts';

const MAX_COMPARISONS = 1_000_000;

/** Null if a content is no text in UTF-8, or the patch is longer than `max` characters. */
export function patchText(
  path: string,
  before: Uint8Array | null,
  after: Uint8Array | null,
  max: number,
): string | null {
  const [one, other] = [linesOf(before), linesOf(after)];
  if (!one || !other) return null;
  const lines = lineDiff(one, other, MAX_COMPARISONS);
  const shown = hunksOf(lines).map(({ from, to }) =>
    ['@@', ...lines.slice(from, to).map(({ sign, text }) => sign + visible(text))].join('\n'),
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
