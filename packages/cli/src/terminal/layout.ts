/** Lays out text in terminal columns: wide characters and emoji take two. */

export const widthOf = (text: string): number => Bun.stringWidth(text);

/** Wraps at `width` columns, between words if possible. Keeps indentation. */
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

/** Breaks lines wherever they are full, dropping nothing. For code and commands. */
export const broken = (text: string, width: number): string[] =>
  text
    .split('\n')
    .flatMap((line) =>
      widthOf(line) <= width
        ? [line]
        : Bun.wrapAnsi(line, Math.max(1, width), { hard: true, wordWrap: false, trim: false }).split('\n'),
    );

/** The beginning, with an ellipsis if the text does not fit. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const room = Math.max(0, width - 1);
  const start = Bun.sliceAnsi(text, 0, room);
  // `sliceAnsi` includes a wide character at the end completely.
  return `${widthOf(start) > room ? Bun.sliceAnsi(text, 0, room - 1) : start}…`;
}

export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** `left` and `right` at both ends of a line; omits `right` if there is no room for both. */
export function spread(left: string, right: string, width: number): string {
  const room = width - widthOf(right) - 2;
  if (right === '' || room < Math.min(20, widthOf(left))) return cut(left, width);
  const shown = cut(left, room);
  return shown + ' '.repeat(width - widthOf(shown) - widthOf(right)) + right;
}

/** Prefixes the first line with `first`, the others with `rest`. */
export const hanging = (lines: readonly string[], first: string, rest: string): string[] =>
  lines.map((line, index) => (index === 0 ? first : rest) + line);

/** Aligns the cells of rows; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  const padded = (row: readonly string[]) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0));
  return rows.map((row) => padded(row).join('  ').trimEnd()).join('\n');
}
