/** Answers questions about a page with quotations from it. Text of a page is never followed. */
import { line } from '../page/clean.ts';
import type { Page } from '../page/page.ts';
import { wordsOf } from '../page/words.ts';

const QUESTION =
  /^(?:what|what's|who|who's|when|where|which|whose|how|why|is|are|was|were|does|do|did|can|has|have|will)\b.*|^(?:tell\s+me|show\s+me|read|find\s+out|find|get|give\s+me|extract|list|summari[sz]e|describe|look\s+up|count)\b.*|.*\?$/i;

export const isQuestion = (clause: string): boolean => QUESTION.test(clause);

const EMPTY = new Set(
  (
    'a about all am an and any are as at be by can did do does find for from get give has have how i in is it its list look many me ' +
    'much my of on or out page read say show site tell that the there these they this to up was website were what when where which ' +
    'who whose why will with you your extract current currently'
  ).split(' '),
);

const MONEY =
  /(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b)\s?\d|\d(?:[.,]\d+)*\s?(?:[$€£¥₹]|(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?)\b)/i;
const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const DATE = new RegExp(
  `\\b\\d{1,4}[-/.]\\d{1,2}[-/.]\\d{1,4}\\b|\\d\\.?\\s+${MONTH}\\b|\\b${MONTH}\\s+\\d|\\b1\\d{3}\\b|\\b20\\d\\d\\b|\\b\\d{1,2}:\\d\\d\\b`,
  'i',
);
const MAIL = /[\w.+-]+@[\w-]+\.[\w.]+/;

/** Questions for values of a known shape, whatever their name on the page. */
const SHAPES: readonly (readonly [asked: RegExp, shape: RegExp, words: readonly string[]])[] = [
  [/\b(?:prices?|costs?|how much|cheap\w*|expensive)\b/i, MONEY, ['price', 'much', 'cheapest', 'expensive']],
  [/\b(?:when|date|what time)\b/i, DATE, ['date', 'time']],
  [/\be-?mail\b/i, MAIL, ['email', 'address']],
];

const COUNTED = new Map([
  ['link', 'link'],
  ['button', 'button'],
  ['field', 'textbox'],
  ['checkbox', 'checkbox'],
  ['tab', 'tab'],
  ['image', 'img'],
]);
const LONGEST_ANSWER = 600;
const MOST_LINES = 20_000;

/** Null if the page has no answer. */
export function answerFrom(page: Page, question: string): string | null {
  const asked = question.replace(/[?.!\s]+$/, '');
  return count(page, asked) ?? identity(page, asked) ?? summary(page, asked) ?? passage(page, asked);
}

function count(page: Page, asked: string): string | null {
  const word = wordsOf(/^(?:how\s+many|count(?:\s+the)?)\s+(\w+)/i.exec(asked)?.[1] ?? '')[0] ?? '';
  const role = COUNTED.get(word);
  if (!role) return null;
  const found = page.elements.filter((element) => element.role === role).length;
  return `I count ${found} ${found === 1 ? word : `${word}${/[sx]$/.test(word) ? 'es' : 's'}`} on this page.`;
}

function identity(page: Page, asked: string): string | null {
  if (
    /\b(?:title|name|heading)\s+of\s+(?:this|the)\s+(?:page|site|tab)$|^(?:what|which)\s+(?:page|site)\s+(?:is\s+this|am\s+i\s+on)$/i.test(
      asked,
    )
  )
    return page.title === '' ? null : `The page is called “${page.title}”.`;
  if (/\b(?:url|address)\s+of\s+(?:this|the)\s+page$|^where\s+am\s+i$/i.test(asked))
    return page.url === '' ? null : `The address of the page is ${page.url}`;
  return null;
}

function summary(page: Page, asked: string): string | null {
  const whole =
    /^(?:summari[sz]e|describe|read)(?:\s+(?:this|the|it))?(?:\s+(?:page|article|site|text))?$|^what(?:'s|\s+is|\s+does)\s+(?:on\s+)?(?:this|the)\s+(?:page|site|article)(?:\s+(?:about|say))?$/i;
  if (!whole.test(asked)) return null;
  const lines = page.text.split('\n');
  const prose = lines.filter((each) => each.length > 40);
  const said = line((prose.length > 0 ? prose : lines).slice(0, 4).join(' '), LONGEST_ANSWER);
  return said === ''
    ? null
    : `${page.title === '' ? 'The page' : `The page “${page.title}”`} says: “${said}”`;
}

type Window = { readonly text: string; readonly words: ReadonlySet<string>; readonly shaped: boolean };

/** The line, or few adjacent lines, that share the most words with the question and have the requested shape. */
function passage(page: Page, asked: string): string | null {
  const shape = SHAPES.find(([pattern]) => pattern.test(asked));
  const wanted = [...new Set(wordsOf(asked))].filter((word) => !EMPTY.has(word));
  const subject = shape ? wanted.filter((word) => !shape[2].includes(word)) : wanted;
  const lines = page.text.split('\n').slice(0, MOST_LINES);
  const words = lines.map(wordsOf);
  const windows = lines.flatMap((_, start) =>
    [1, 2, 3].map((size) => {
      const text = lines.slice(start, start + size).join(' – ');
      const held = new Set(words.slice(start, start + size).flat());
      return { text, words: held, shaped: shape?.[1].test(text) ?? true, size };
    }),
  );
  if (shape && subject.length === 0)
    return shaped(
      windows.filter(({ size }) => size === 1),
      wanted,
    );
  let best: { score: number; text: string } | null = null;
  for (const { text, words: held, shaped: fits, size } of windows) {
    if (shape && !fits) continue;
    const shared = subject.filter((word) => held.has(word)).length;
    if (shared === 0 || shared < Math.min(2, Math.ceil(subject.length / 2))) continue;
    // Prefers few words around the value, and few lines.
    const score = shared / subject.length - size * 0.05 - Math.min(held.size, 40) * 0.001;
    if (!best || score > best.score) best = { score, text };
  }
  return best && `The page says: “${line(best.text, LONGEST_ANSWER)}”`;
}

/** "What is the price?": all lines with one, lines with the word first; a bare figure with the line before it. */
function shaped(lines: readonly Window[], wanted: readonly string[]): string | null {
  const told = lines.map((each, index) => {
    const before = each.words.size <= 3 ? (lines[index - 1]?.text ?? '') : '';
    return { ...each, text: before === '' ? each.text : `${before} – ${each.text}` };
  });
  const fitting = told.filter((each) => each.shaped);
  const named = fitting.filter(({ words }) => wanted.some((word) => words.has(word)));
  const said = (named.length > 0 ? named : fitting).slice(0, 5).map(({ text }) => text);
  return said.length === 0 ? null : `The page says: ${said.map((text) => `“${line(text, 160)}”`).join(', ')}`;
}
