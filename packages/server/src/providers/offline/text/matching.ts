/** Answers a question from a text: the sentences that share the most meaningful words with it. */
import { sentencesOf } from './sentences.ts';
import { meaningful } from './words.ts';

export type Found = { readonly sentences: readonly string[]; readonly score: number };

/** Null if no sentence is close to the question. */
export function findIn(passage: string, question: string): Found | null {
  const asked = new Set(meaningful(question));
  if (asked.size === 0) return null;
  const sentences = sentencesOf(passage).filter((sentence) => sentence !== question.trim());
  const words = sentences.map((sentence) => new Set(meaningful(sentence)));
  const weight = (word: string) => {
    const holders = words.filter((own) => own.has(word)).length;
    return Math.log2(1 + sentences.length / Math.max(holders, 1));
  };
  const weights = new Map([...asked].map((word) => [word, weight(word)]));
  const ranked = sentences
    .map((sentence, position) => {
      const shared = [...asked].filter((word) => words[position]?.has(word));
      const score = shared.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
      return { sentence, position, shared: shared.length, score };
    })
    .sort((a, b) => b.score - a.score || a.position - b.position);
  const first = ranked[0];
  if (!first || first.shared < Math.min(2, Math.ceil(asked.size / 2)) || first.shared === 0) return null;
  const close = ranked.slice(0, 2).filter(({ score }) => score >= first.score * 0.8);
  const inOrder = close.sort((a, b) => a.position - b.position);
  return { sentences: inOrder.map(({ sentence }) => sentence), score: first.score };
}
