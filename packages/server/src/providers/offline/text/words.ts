/** Splits text into words, for streaming (lossless) and for comparison (meaningful words only). */

const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';
const DELTA = new RegExp(`^\\s+|(?:[${UNSPACED}]{1,2}|[^\\s${UNSPACED}]+)\\s*`, 'gu');
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

/** Yields one word with its trailing blanks at a time. The deltas joined are the text. */
export function* deltas(text: string): Generator<string> {
  for (const match of text.matchAll(DELTA)) yield match[0];
}

const STOP_WORDS = new Set(
  (
    'a about after all also am an and any are as at be because been before but by can could did do does doing ' +
    'for from had has have he her here him his how i if in into is it its just me more my no not of on only or ' +
    'our out over own please said same say says she should so some such tell than that the their them then ' +
    'there these they this those through to too under until up us very was we were what when where which ' +
    'while who whom why will with would you your'
  ).split(' '),
);

/** The meaningful words, normalized; scripts without blanks give pairs of characters. */
export function meaningful(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.toLowerCase().normalize('NFKC').matchAll(WORD)) {
    if (HAS_UNSPACED.test(word)) words.push(...pairs(word));
    else if (!STOP_WORDS.has(word) && word.length > 1) words.push(stem(word));
  }
  return words;
}

function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('ed')) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1);
  return word;
}
