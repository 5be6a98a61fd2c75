/** The title of a session that nobody has named: the beginning of its first message. Without zod, for browsers. */
import type { Part } from './parts.ts';

const MAX_LENGTH = 80;
/** Longer texts are not searched for marks. */
const MAX_READ = 2_000;

/** The title of a session that starts with this input. Parts after the first are attachments. */
export const titleOf = ([first]: readonly Part[]): string =>
  first?.type === 'text' ? titleFrom(first.text) : '';

/** As one line, without the marks of Markdown, which a title does not render. */
export function titleFrom(text: string): string {
  const line = withoutMarks(text.slice(0, MAX_READ)) || oneLine(text);
  return (line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1)}…`).toWellFormed();
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Marks inside of words stay, such as those of `__init__` and `2*3*4`. */
const withoutMarks = (text: string): string =>
  oneLine(
    text
      .replace(/^[ \t]*(?:`{3,}|~{3,}).*$/gm, '')
      .replace(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, '')
      .replace(/!?\[([^[\]\n]{1,200})\]\([^()\s]{1,500}\)/g, '$1')
      .replace(/`+([^`\n]+)`+/g, '$1')
      .replace(/(\*\*\*|\*\*|~~)(?=[^\s*~])([^*~\n]+)\1/g, '$2')
      .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]+)\*(?![\w*])/g, '$1'),
  );
