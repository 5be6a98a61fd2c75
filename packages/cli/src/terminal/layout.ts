/** Text in columns. Widths are those of the terminal: wide characters and emoji take two columns. */

export const widthOf = (text: string): number => Bun.stringWidth(text);

/** Lines of at most `width` columns, broken between words where possible. Lines keep their indentation. */
export function wrapped(text: string, width: number): string[] {
  const columns = Math.max(1, width);
  return text.split('\n').flatMap((line) => {
    if (widthOf(line) <= columns) return [line];
    const indent = /^ */.exec(line)?.[0].slice(0, columns >> 1) ?? '';
    const room = columns - indent.length;
    return Bun.wrapAnsi(line, room, { hard: true })
      .split('\n')
      .map((part) => indent + part);
  });
}

/** Lines of exactly the text: broken wherever a line is full, nothing dropped. For code and commands. */
export const broken = (text: string, width: number): string[] =>
  text
    .split('\n')
    .flatMap((line) =>
      widthOf(line) <= width
        ? [line]
        : Bun.wrapAnsi(line, Math.max(1, width), { hard: true, wordWrap: false, trim: false }).split('\n'),
    );

/** The beginning, with an ellipsis if it does not fit. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const room = Math.max(0, width - 1);
  const start = Bun.sliceAnsi(text, 0, room);
  // The function takes a wide character at the end as a whole.
  return `${widthOf(start) > room ? Bun.sliceAnsi(text, 0, room - 1) : start}…`;
}

export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** `left` and `right` at both ends of a line; without `right` if there is no room for both. */
export function spread(left: string, right: string, width: number): string {
  const room = width - widthOf(right) - 2;
  if (right === '' || room < Math.min(20, widthOf(left))) return cut(left, width);
  const shown = cut(left, room);
  return shown + ' '.repeat(width - widthOf(shown) - widthOf(right)) + right;
}

/** The first line after `first`, the others after `rest`. */
export const hanging = (lines: readonly string[], first: string, rest: string): string[] =>
  lines.map((line, index) => (index === 0 ? first : rest) + line);
