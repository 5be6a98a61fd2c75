/** Questions as messages, and the messages that answer them. Without zod, so that terminals load it quickly. */
import type { Answers, Question, QuestionContent, QuestionItem } from './questions.ts';
import { visible, visibleLine } from './visible.ts';

/** Without invisible or reordering characters. */
export const visibleQuestion = <Content extends QuestionContent>(content: Content): Content => ({
  ...content,
  ...(content.title === undefined ? {} : { title: visibleLine(content.title) }),
  ...(content.path && { path: content.path.map(visibleLine) }),
  questions: content.questions.map((item) => ({
    ...item,
    header: visibleLine(item.header),
    text: visible(item.text),
    options: item.options.map(({ label, description }) => ({
      label: visibleLine(label),
      ...(description === undefined ? {} : { description: visibleLine(description) }),
    })),
    ...(item.default && { default: item.default.map(visible) }),
  })),
});

/** The names of sub-agents in one line, from the first session's agent to the one that is meant. */
export const pathText = (path: readonly string[]): string => path.join(' › ');

// A question as a message, for clients that have no form for it.

/** The message that declines. */
const DECLINES = /^skip[.!]?$/i;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** The question, and how a message answers it. `problem`: why the last answer was not accepted. */
export function writtenQuestion({
  title,
  path,
  questions,
  problem,
}: QuestionContent & { readonly problem?: string }): string {
  const several = questions.length > 1;
  const from = path && path.length > 0 ? [`${pathText(path)} asks:`] : [];
  const items = questions.map((item, at) => itemText(item, several ? at : null));
  const head = [...(problem === undefined ? [] : [problem]), ...from, ...(title ? [title] : [])];
  return [...head, ...items, howToAnswer(questions)].join('\n\n');
}

function itemText({ header, text, options, default: usual }: QuestionItem, at: number | null): string {
  const number = at === null ? '' : `${at + 1}. `;
  const lines = options.map(({ label, description }, index) => {
    const mark = at === null ? `${index + 1}.` : `   ${LETTERS[index]})`;
    return `${mark} ${label}${description ? ` – ${description}` : ''}`;
  });
  const preset = usual && usual.length > 0 ? [`(default: ${usual.join(', ')})`] : [];
  return [`${number}${header === '' ? '' : `${header}: `}${text}`, ...lines, ...preset].join('\n');
}

function howToAnswer(items: readonly QuestionItem[]): string {
  const [first] = items;
  if (items.length > 1) {
    const example = items.map((item, at) => `${at + 1}: ${item.options.length > 0 ? 'a' : '…'}`).join(', ');
    return `Answer all in one message, for example "${example}", or "skip" to answer none.`;
  }
  if (!first || first.options.length === 0) return 'Reply with your answer, or "skip" to give none.';
  const choice = first.multiple
    ? 'the numbers or labels of your choices, separated by commas'
    : 'the number or the label of your choice';
  return `Reply with ${choice}${first.freeText ? ', in your own words' : ''}, or "skip" to give none.`;
}

export type ReadAnswer =
  | { readonly outcome: 'answered'; readonly answers: Answers }
  | { readonly outcome: 'declined' }
  /** a sentence for the user */
  | { readonly problem: string };

/** Reads a message as the answer: numbers or labels of options, or free text; for several items `1: b, 2: a`, or a line each. */
export function readAnswer({ questions }: Pick<Question, 'questions'>, message: string): ReadAnswer {
  const text = message.trim();
  if (DECLINES.test(text)) return { outcome: 'declined' };
  const replies = questions.length > 1 ? repliesIn(text, questions.length) : [text];
  if (!replies) return { problem: 'The answers could not be told apart.' };
  const answers: Answers = {};
  for (const [index, item] of questions.entries()) {
    const given = valuesOf(item, replies[index] ?? '', questions.length > 1);
    if ('problem' in given)
      return { problem: questions.length > 1 ? `${index + 1}: ${given.problem}` : given.problem };
    answers[item.id] = given.values;
  }
  return checkAnswers({ questions }, answers);
}

/** The reply to each of the items, by position; null if it cannot be told which part answers which. */
function repliesIn(text: string, count: number): (string | undefined)[] | null {
  const marks = [...text.matchAll(/(?:^|[\n,;])\s*(\d{1,2})\s*[:.)=]\s*/g)].filter(({ 1: number }) => {
    const at = Number(number);
    return at >= 1 && at <= count;
  });
  if (marks.length > 0 && marks[0]?.index === 0) {
    const replies: (string | undefined)[] = [];
    for (const [index, mark] of marks.entries()) {
      const at = Number(mark[1]) - 1;
      if (replies[at] !== undefined) return null;
      replies[at] = text.slice(mark.index + mark[0].length, marks[index + 1]?.index).trim();
    }
    return replies;
  }
  for (const separator of ['\n', ',']) {
    const replies = text.split(separator).map((reply) => reply.trim());
    if (replies.length === count) return replies;
  }
  return null;
}

type ParsedReply = { readonly values: string[] } | { readonly problem: string };

function valuesOf(item: QuestionItem, reply: string, several: boolean): ParsedReply {
  if (reply === '') return { values: item.default ?? [] };
  if (item.options.length === 0) return { values: [reply] };
  const whole = optionOf(item, reply, several);
  if (whole !== null) return { values: [whole] };
  const tokens = item.multiple
    ? reply
        .split(/[,;\n]/)
        .map((token) => token.trim())
        .filter((token) => token !== '')
    : [reply];
  const values = tokens.map((token) => optionOf(item, token, several));
  if (values.every((value) => value === null) && item.freeText && !/^\d+[.)]?$/.test(reply))
    return { values: [reply] };
  const wrong = tokens.find((_, index) => values[index] === null);
  if (wrong === undefined) return { values: [...new Set(values.filter((value) => value !== null))] };
  if (item.freeText && !/^\d+[.)]?$/.test(wrong))
    return { values: tokens.map((token, index) => values[index] ?? token) };
  return { problem: `"${short(wrong)}" is none of the options.` };
}

/** The label of the option that the word names: by its label, its number, or among several questions its letter. */
function optionOf({ options }: QuestionItem, word: string, several: boolean): string | null {
  const plain = word.toLowerCase();
  const named = options.find(({ label }) => label === word || label.toLowerCase() === plain);
  if (named) return named.label;
  const number = /^(\d{1,3})[.)]?$/.exec(word)?.[1];
  if (number !== undefined) return options[Number(number) - 1]?.label ?? null;
  const letter = several ? /^([a-z])[.)]?$/.exec(plain)?.[1] : undefined;
  return letter === undefined ? null : (options[LETTERS.indexOf(letter)]?.label ?? null);
}

/** The answers if they are valid, with defaults in place of empty ones. */
export function checkAnswers({ questions }: Pick<Question, 'questions'>, answers: Answers): ReadAnswer {
  const unknown = Object.keys(answers).find((id) => !questions.some((item) => item.id === id));
  if (unknown !== undefined) return { problem: `There is no question "${short(unknown)}".` };
  const complete: Answers = {};
  for (const item of questions) {
    const given = (Object.hasOwn(answers, item.id) ? (answers[item.id] ?? []) : [])
      .map((value) => value.trim())
      .filter((value) => value !== '');
    const values = given.length > 0 ? [...new Set(given)] : (item.default ?? []);
    const problem = problemWith(item, values);
    if (problem !== null) return { problem: `${item.header === '' ? '' : `${item.header}: `}${problem}` };
    complete[item.id] = values;
  }
  return { outcome: 'answered', answers: complete };
}

function problemWith(item: QuestionItem, values: readonly string[]): string | null {
  const { options, multiple, freeText, optional, min, max } = item;
  const [first] = values;
  if (first === undefined) return optional ? null : 'This question needs an answer.';
  if (values.length > 1 && !multiple) return 'Only one answer is possible.';
  const own = values.filter((value) => !options.some(({ label }) => label === value));
  if (own[0] === undefined) {
    if (multiple && min !== undefined && values.length < min) return `At least ${min} must be chosen.`;
    if (multiple && max !== undefined && values.length > max) return `At most ${max} can be chosen.`;
    return null;
  }
  if (!freeText) return `"${short(own[0])}" is none of the options.`;
  for (const value of own) {
    const problem = problemWithText(item, value);
    if (problem !== null) return problem;
  }
  return null;
}

const FORMATS: { readonly [Format in NonNullable<QuestionItem['format']>]: [RegExp, string] } = {
  number: [/^-?\d+(?:[.]\d+)?(?:e[+-]?\d+)?$/i, 'a number'],
  integer: [/^-?\d+$/, 'a whole number'],
  email: [/^[^\s@]+@[^\s@]+$/, 'an e-mail address'],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, 'an address such as https://example.com'],
  date: [/^\d{4}-\d{2}-\d{2}$/, 'a date such as 2026-12-31'],
  'date-time': [
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.]\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/i,
    'a date and time',
  ],
};

function problemWithText({ format, options, min, max }: QuestionItem, value: string): string | null {
  if (format && !FORMATS[format][0].test(value)) return `"${short(value)}" is not ${FORMATS[format][1]}.`;
  if (options.length > 0) return null;
  const isNumber = format === 'number' || format === 'integer';
  const size = isNumber ? Number(value) : [...value].length;
  const unit = isNumber ? '' : ' characters';
  if (min !== undefined && size < min) return `The answer must be at least ${min}${unit}.`;
  if (max !== undefined && size > max) return `The answer must be at most ${max}${unit}.`;
  return null;
}

const short = (text: string): string => visibleLine(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The answers as lines of text. */
export const answersText = ({ questions }: Pick<Question, 'questions'>, answers: Answers): string =>
  questions
    .map(({ id, header, text }) => {
      const given = Object.hasOwn(answers, id) ? (answers[id] ?? []) : [];
      return `${header === '' ? text : header}: ${given.length > 0 ? given.join(', ') : '(no answer)'}`;
    })
    .join('\n');
