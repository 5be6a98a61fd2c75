/** The readable text of a page, cut to a budget between lines. */
import { priceOf } from './budget.ts';
import { line, visible } from './clean.ts';

export type Readable = { readonly text: string; readonly truncated: boolean };

const MAX_LINE_LENGTH = 4_000;

/** Blocks become lines, cells are separated, and repeated lines are merged. */
export function readable(raw: string, budgetTokens: number): Readable {
  const lines: string[] = [];
  let left = budgetTokens;
  let at = 0;
  while (at < raw.length) {
    const next = raw.indexOf('\n', at);
    const end = next === -1 ? raw.length : next;
    for (const piece of pieces(raw, at, end)) {
      const said = piece
        .split('\t')
        .map((cell) => visible(cell).replace(/\s+/g, ' ').trim())
        .filter((cell) => cell !== '')
        .join(' | ');
      if (said === '' || said === lines.at(-1)) continue;
      const price = priceOf(said) + 1;
      if (price > left) {
        const start = beginning(said, left);
        if (start !== '') lines.push(start);
        return { text: lines.join('\n'), truncated: true };
      }
      left -= price;
      lines.push(said);
    }
    at = end + 1;
  }
  return { text: lines.join('\n'), truncated: false };
}

function* pieces(raw: string, start: number, end: number): Generator<string> {
  for (let at = start; at < end; at += MAX_LINE_LENGTH)
    yield raw.slice(at, Math.min(end, at + MAX_LINE_LENGTH));
}

/** As many whole words as the remaining budget allows. */
function beginning(said: string, left: number): string {
  let length = Math.min(said.length, left * 3);
  while (length > 0 && priceOf(said.slice(0, length)) + 1 > left) length = Math.floor(length * 0.8);
  if (length < 20) return '';
  const part = said.slice(0, length);
  const blank = part.lastIndexOf(' ');
  return line(blank > length / 2 ? part.slice(0, blank) : part, MAX_LINE_LENGTH);
}
