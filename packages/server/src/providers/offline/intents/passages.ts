/** A question together with the text that answers it. */
import { materialOf } from '../material.ts';
import { type Intent, saying } from '../plan.ts';
import { findIn } from '../text/matching.ts';
import { quoted } from '../text/quote.ts';
import { sentencesOf } from '../text/sentences.ts';
import { summarise } from '../text/summary.ts';

const ASKS =
  /^(?:what|who|whom|whose|when|where|which|how|is|are|was|were|does|do|did|can|has|have|tell me|find)\b/i;
const SHORTEST_PASSAGE = 200;
const LONGEST_QUESTION = 400;

export const passages: Intent = {
  name: 'passages',
  match({ text }, { turn, earlier }) {
    const { question, passage } = parted(text, turn.material);
    if (passage !== '') {
      const found = question === '' ? null : findIn(passage, question);
      if (found) return saying(`The text says: ${quoted(found.sentences.join(' '), 800)}`);
      const answer =
        question === ''
          ? 'You sent me a text.'
          : `I found no sentence in the text that answers ${quoted(question)}.`;
      return saying(`${answer} In short, it says: ${summarise(passage)}`);
    }
    if (!isQuestion(text) || text.length > LONGEST_QUESTION) return null;
    for (const { source, text: other } of materialOf(earlier)) {
      const found = findIn(other, text);
      if (found) return saying(`From ${source}: ${quoted(found.sentences.join(' '), 800)}`);
    }
    return null;
  },
};

const isQuestion = (text: string): boolean => /[?\uff1f\u061f]\s*$/.test(text) || ASKS.test(text);

/** The question is before or after the passage, in its own paragraph or part. */
function parted(text: string, material: string): { question: string; passage: string } {
  if (material.trim() !== '') return { question: text.slice(0, LONGEST_QUESTION), passage: material };
  if (text.length < SHORTEST_PASSAGE) return { question: '', passage: '' };
  const paragraphs = text.split(/\n\s*\n|\n(?=[-=`>]{3})/);
  const first = paragraphs[0] ?? '';
  const last = paragraphs.at(-1) ?? '';
  if (paragraphs.length > 1 && first.length <= LONGEST_QUESTION && isQuestion(first)) {
    return { question: first, passage: text.slice(first.length) };
  }
  if (paragraphs.length > 1 && last.length <= LONGEST_QUESTION && isQuestion(last)) {
    return { question: last, passage: text.slice(0, -last.length) };
  }
  const sentences = sentencesOf(text);
  const asked =
    sentences.length > 2 ? sentences.find((sentence) => /[?\uff1f\u061f]$/.test(sentence)) : undefined;
  return { question: asked ?? '', passage: text };
}
