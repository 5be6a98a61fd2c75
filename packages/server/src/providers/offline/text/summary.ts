/** Extractive summary: the sentences with the most frequent words, in their own order. */
import { sentencesOf } from './sentences.ts';
import { meaningful } from './words.ts';

const TITLE = /^\s*Title:[ \t]*(.*)(?:\r?\n|$)/i;

export function summarise(document: string): string {
  const title = TITLE.exec(document)?.[1]?.trim() ?? '';
  const body = document.replace(TITLE, '');
  const sentences = sentencesOf(body);
  if (sentences.length === 0) return title === '' ? 'There is no text to summarise.' : title;
  return best(sentences, title, wanted(sentences.length)).map(ended).join(' ');
}

const wanted = (count: number): number =>
  count <= 2 ? count : count <= 6 ? 2 : count <= 12 ? 3 : count <= 30 ? 4 : 5;

function best(sentences: readonly string[], title: string, count: number): string[] {
  const words = sentences.map(meaningful);
  const frequency = new Map<string, number>();
  for (const word of words.flat()) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const titleWords = new Set(meaningful(title));

  const score = (own: readonly string[], position: number): number => {
    const distinct = [...new Set(own)];
    const weight = distinct.reduce((sum, word) => {
      const inTitle = titleWords.has(word) ? 3 : 0;
      return sum + Math.log2(1 + (frequency.get(word) ?? 0)) + inTitle;
    }, 0);
    // Penalizes both long sentences, which collect words, and short ones, which say little.
    const density = weight / Math.sqrt(Math.max(distinct.length, 6));
    const place = position === 0 ? 2 : position === sentences.length - 1 ? 1.1 : 1;
    return density * place;
  };

  const seen = new Set<string>();
  return sentences
    .map((sentence, position) => ({ sentence, position, score: score(words[position] ?? [], position) }))
    .filter(({ sentence }) => {
      const repeated = seen.has(sentence);
      seen.add(sentence);
      return !repeated;
    })
    .sort((a, b) => b.score - a.score || a.position - b.position)
    .slice(0, count)
    .sort((a, b) => a.position - b.position)
    .map(({ sentence }) => sentence);
}

const ended = (sentence: string): string =>
  /[\p{L}\p{N})\]"'”’»]$/u.test(sentence) && !/[.!?]["'”’»)\]]$/.test(sentence) ? `${sentence}.` : sentence;
