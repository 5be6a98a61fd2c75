/** Text: quotations, summaries, and the deltas of a stream. */

const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';
const DELTA = new RegExp(`^\\s+|(?:[${UNSPACED}]{1,2}|[^\\s${UNSPACED}]+)\\s*`, 'gu');

/** Yields one word with its trailing blanks at a time. The deltas joined are the text. */
export function* deltas(text: string): Generator<string> {
  for (const match of text.matchAll(DELTA)) yield match[0];
}

/** On one line, cut between characters. */
export function shorten(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 8)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...line];
  if (characters.length <= limit && text.length <= limit * 8) return line;
  return `${characters
    .slice(0, limit - 1)
    .join('')
    .trimEnd()}…`;
}

export const quoted = (text: string, limit = 80): string => `“${shorten(text, limit)}”`;

/** As inline code; its backticks are longer than any inside. */
export function code(text: string, limit = 120): string {
  const line = shorten(text, limit);
  const marks = '`'.repeat(longestRun(line, 0) + 1);
  const blank = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${marks}${blank}${line}${blank}${marks}`;
}

const MAX_LINES = 24;
const MAX_CHARACTERS = 1_600;

/** Short output stays inline; longer output becomes a fenced block in which omitted lines are counted. */
export function shown(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length <= 160 && !trimmed.includes('\n')) return ` ${code(trimmed, 160)}`;
  const all = text
    .replace(/^\s*\n/, '')
    .trimEnd()
    .split('\n');
  const body = all.slice(0, MAX_LINES).join('\n').slice(0, MAX_CHARACTERS).toWellFormed();
  const left = all.length - body.split('\n').length;
  const fence = '`'.repeat(longestRun(body, 2) + 1);
  return `\n\n${fence}\n${body}\n${fence}${left > 0 ? `\n\n… and ${left} more ${left === 1 ? 'line' : 'lines'}.` : ''}`;
}

const longestRun = (text: string, least: number): number =>
  Math.max(least, ...(text.match(/`+/g) ?? []).map((run) => run.length));

const MAX_DOCUMENT_LENGTH = 20_000;
const MAX_SENTENCES = 3;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The first sentences. A first line `Title: …` is used only if there is no other text. */
export function summarise(document: string): string {
  const [, title = '', body = ''] =
    /^\s*(?:Title:[ \t]*(.*)(?:\r?\n|$))?([\s\S]*)$/i.exec(document.slice(0, MAX_DOCUMENT_LENGTH)) ?? [];
  const sentences = [...segmenter.segment(body)]
    .map(({ segment }) => shorten(segment, 400))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  return sentences.slice(0, MAX_SENTENCES).join(' ') || title.trim() || 'There is no text to summarise.';
}
