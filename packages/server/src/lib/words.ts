/**
 * Splits text into words for full-text search. All stores index these instead of using their own tokenizers,
 * so that they find the same. Ignores case, accents and compatibility forms. In scripts without spaces, each
 * character is a word.
 */

export type Word = {
  /** letters, digits and `_` only */
  readonly word: string;
  /** position in the text */
  readonly start: number;
  readonly end: number;
};

/** Longer words are cut. */
const MAX_WORD_LENGTH = 64;

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = new RegExp(`[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])+`, 'gu');

/** At most the first `most` words. */
export function wordsOf(text: string, max: number): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(WORD)) {
    if (words.length >= max) break;
    const word = normal(match[0]);
    if (word !== '') words.push({ word, start: match.index, end: match.index + match[0].length });
  }
  return words;
}

const normal = (word: string): string =>
  word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]/gu, '')
    .slice(0, MAX_WORD_LENGTH)
    .toWellFormed()
    .replaceAll('\ufffd', '');
