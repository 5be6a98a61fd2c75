/** Parses the text of a search field. */
import { wordsOf } from '../../lib/words.ts';
import type { SearchTerm } from '../ports/event-store.ts';

const MAX_WORDS = 20;

/**
 * Words match in any order, "quoted words" in the given order; the last word may be a prefix. There is no
 * other syntax. Empty if there is nothing to search for.
 */
export function parseSearch(text: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let left = MAX_WORDS;
  text.split('"').forEach((part, index, parts) => {
    const isQuoted = index % 2 === 1 && index < parts.length - 1;
    const groups = isQuoted ? [part] : part.split(/\s+/);
    for (const group of groups) {
      // Text without spaces, such as `main.ts` or 東京, is one phrase.
      const words = wordsOf(group, left).map(({ word }) => word);
      left -= words.length;
      if (words.length > 0) terms.push({ words, prefix: false });
    }
  });
  const last = terms.at(-1);
  if (!last || /["\s]$/.test(text)) return terms;
  return terms.with(-1, { ...last, prefix: true });
}
