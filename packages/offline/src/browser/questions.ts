/** Answers questions about a page with quotations from it. Text of a page is never followed. */
import { line, type Page, wordsOf } from '@parlance/copilot';

const QUESTION =
  /^(?:what|who|when|where|which|whose|how|why|is|are|was|were|does|do|did|can|has|have|will|tell\s+me|show\s+me|read|find|get|give\s+me|extract|list|summari[sz]e|describe)\b|\?$/i;

export const isQuestion = (clause: string): boolean => QUESTION.test(clause);

const WHOLE =
  /^(?:summari[sz]e|describe|read)(?:\s+(?:this|the|it))?(?:\s+(?:page|article|site|text))?$|^what(?:'s|\s+is|\s+does)\s+(?:on\s+)?(?:this|the)\s+(?:page|site|article)(?:\s+(?:about|say))?$/i;
const PRICE = /\b(?:prices?|costs?|how much)\b/i;
const MONEY = /[$€£¥]\s?\d|\d(?:[.,]\d+)*\s?(?:[$€£¥]|(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?)\b)/i;
const EMPTY = new Set(
  (
    'a about all an and any are as at be by can did do does find for from get give has have how i in is it its list me much my of ' +
    'on or page price read say show site tell that the there this to was were what when where which who whose why will with you your'
  ).split(' '),
);
const MAX_ANSWER_LENGTH = 600;
const MAX_LINES = 20_000;
const MAX_PRICES = 5;

/** Null if the page has no answer. */
export function answerFrom(page: Page, question: string): string | null {
  const asked = question.replace(/[?.!\s]+$/, '');
  const lines = page.text.split('\n').filter((each) => each.trim() !== '');
  if (WHOLE.test(asked)) return quoteAnswer(lines.slice(0, 4).join(' '));
  const price = PRICE.test(asked);
  const wanted = [...new Set(wordsOf(asked))].filter((word) => !EMPTY.has(word));
  const passages = passagesOf(lines.slice(0, MAX_LINES)).filter((text) => !price || MONEY.test(text));
  if (price && wanted.length === 0) return quoteAnswer(passages.slice(0, MAX_PRICES).join('”, “'));
  let best = { shared: Math.min(2, Math.ceil(wanted.length / 2)) - 0.5, text: '' };
  for (const text of passages) {
    const words = wordsOf(text);
    const shared = wanted.filter((word) => words.includes(word)).length;
    if (shared > best.shared && shared > 0) best = { shared, text };
  }
  return quoteAnswer(best.text);
}

/** A short line belongs to the one before it: a name and its price. */
const passagesOf = (lines: readonly string[]): string[] =>
  lines.map((text, index) => {
    const before = wordsOf(text).length <= 3 ? lines[index - 1] : undefined;
    return before === undefined ? text : `${before} – ${text}`;
  });

const quoteAnswer = (text: string): string | null =>
  text.trim() === '' ? null : `The page says: “${line(text, MAX_ANSWER_LENGTH)}”`;
