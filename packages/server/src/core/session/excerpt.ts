/** The part of a message around the search match. */
import { type Word, wordsOf } from '../../lib/words.ts';
import type { SearchTerm } from '../ports/event-store.ts';

export type ExcerptPart = { readonly text: string; readonly match: boolean };

const MAX_WORDS = 20_000;
const BEFORE = 60;
const LENGTH = 240;

/** Falls back to the beginning of the text if no term matches. */
export function excerpt(text: string, terms: readonly SearchTerm[]): ExcerptPart[] {
  const matches = matchesIn(wordsOf(text, MAX_WORDS), terms);
  const start = boundary(text, Math.max(0, (matches[0]?.start ?? 0) - BEFORE));
  const end = boundary(text, Math.min(text.length, start + LENGTH));
  const parts: ExcerptPart[] = [];
  let at = start;
  for (const { start: from, end: to } of matches) {
    if (from < at || to > end) continue;
    if (from > at) parts.push({ text: text.slice(at, from), match: false });
    parts.push({ text: text.slice(from, to), match: true });
    at = to;
  }
  if (at < end) parts.push({ text: text.slice(at, end), match: false });
  const first = start > 0 ? [{ text: '…', match: false }] : [];
  const last = end < text.length ? [{ text: '…', match: false }] : [];
  return [...first, ...parts, ...last].map((part) => ({ ...part, text: part.text.replace(/\s+/g, ' ') }));
}

/** Moves an index that would split a surrogate pair. */
const boundary = (text: string, index: number): number =>
  /[\udc00-\udfff]/.test(text[index] ?? '') ? index - 1 : index;

function matchesIn(words: readonly Word[], terms: readonly SearchTerm[]): Pick<Word, 'start' | 'end'>[] {
  return words.flatMap((word, index) => {
    const found = terms.find((term) =>
      term.words.every((_, offset) => fits(words[index + offset], term, offset)),
    );
    const last = found && words[index + found.words.length - 1];
    return last ? [{ start: word.start, end: last.end }] : [];
  });
}

function fits(word: Word | undefined, { words, prefix }: SearchTerm, offset: number): boolean {
  const wanted = words[offset];
  if (word === undefined || wanted === undefined) return false;
  return prefix && offset === words.length - 1 ? word.word.startsWith(wanted) : word.word === wanted;
}
