/** Compaction by extraction: the user's name, requests and calls, the last answer. A digest keeps what an earlier one holds. */
import { type Item, textIn } from './prompt.ts';
import { shorten } from './text.ts';

const MAX_LENGTH = 1_500;
const NAME =
  /\b(?:my name is|call me(?! (?:when|if|later|back|once|after|at|tomorrow|maybe|a|an|the)\b)|the user's name is)\s+([\p{L}\p{M}][\p{L}\p{M}'’. -]{0,59})/iu;
const NAME_END = /\s+(?:and|but|please|so|then|by the way|what|who)\b.*$|[.,;!?\s]+$/i;

/** The name that a user has given in a text, at any position. */
export function nameIn(text: string): string | null {
  const name = NAME.exec(text.slice(0, 20_000))?.[1]?.replace(NAME_END, '').trim();
  return name ? shorten(name, 40) : null;
}

/** The last name in messages of the user, and in summaries. */
export const knownName = (items: readonly Item[]): string | null =>
  items
    .filter(({ kind }) => kind === 'user' || kind === 'summary')
    .map((item) => nameIn(textIn(item)))
    .findLast((name) => name !== null) ?? null;

/** At most half as long as the items, and never more than a page. */
export function compact(items: readonly Item[]): string {
  const size = items.reduce((sum, item) => sum + textIn(item).length, 0);
  const limit = Math.min(MAX_LENGTH, Math.max(Math.floor(size / 2), 24));
  const name = knownName(items);
  const last = items.findLast(({ kind }) => kind === 'text');
  const head = name ? [`The user's name is ${name}.`] : [];
  const tail = last ? [`Last answer: ${shorten(textIn(last), Math.max(40, limit / 5))}`] : [];
  const room = limit - [...head, ...tail].join('\n').length;
  const text = [...head, ...latest(items.flatMap(linesOf), room), ...tail].join('\n');
  if (text === '') return 'Nothing was said.';
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`.toWellFormed();
}

function linesOf(item: Item): string[] {
  switch (item.kind) {
    case 'user':
      return [`- The user: “${shorten(textIn(item), 120)}”`];
    case 'call':
      return [`- Called ${item.tool} ${shorten(JSON.stringify(item.input), 80)}`];
    case 'summary': {
      const lines = item.text.split('\n').filter((line) => /^- (?!…)/.test(line));
      return lines.length > 0 ? lines : [`- Before: ${shorten(item.text, 400)}`];
    }
    default:
      return [];
  }
}

/** The first line and as many of the latest as fit. */
function latest([first, ...lines]: readonly string[], room: number): string[] {
  if (first === undefined) return [];
  let left = room - first.length - 20;
  const from = lines.findLastIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return [first, ...(from >= 0 ? [`- … ${from + 1} more`] : []), ...lines.slice(from + 1)];
}
