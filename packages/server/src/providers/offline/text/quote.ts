/** Quotes foreign text: shortened, marked as a quotation, bounded. */

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

const MOST_LINES = 24;
const MOST_CHARACTERS = 1_600;

/** As a fenced block. Omitted text is counted. */
export function fenced(text: string): string {
  const all = text.trimEnd().split('\n');
  const kept: string[] = [];
  let size = 0;
  for (const line of all) {
    if (kept.length === MOST_LINES || size + line.length > MOST_CHARACTERS) break;
    kept.push(line);
    size += line.length + 1;
  }
  if (kept.length === 0) kept.push([...(all[0] ?? '').slice(0, MOST_CHARACTERS)].slice(0, -1).join(''));
  const left = all.length - kept.length;
  const body = kept.join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(body, 2) + 1));
  const rest = left > 0 ? `\n\n… and ${left} more ${left === 1 ? 'line' : 'lines'}.` : '';
  return `${fence}\n${body}\n${fence}${rest}`;
}

/** Short output stays inline, longer output gets a block. */
export function shown(text: string): string {
  const trimmed = text.trim();
  const short = trimmed.length <= 160 && !trimmed.includes('\n');
  return short ? ` ${code(trimmed, 160)}` : `\n\n${fenced(text.replace(/^\s*\n/, ''))}`;
}

function longestRun(text: string, least: number): number {
  return Math.max(least, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
