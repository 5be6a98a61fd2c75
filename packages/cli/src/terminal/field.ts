/** Renders a text field: prompt, text wrapped at the width, and cursor. */
import type { Draft } from './editor.ts';
import { widthOf } from './layout.ts';
import type { Cursor, Frame } from './screen.ts';

export type FieldOptions = {
  readonly prompt: string;
  readonly width: number;
  /** maximum number of lines shown, around the cursor */
  readonly rows: number;
};

const TAB = '    ';
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export function fieldFrame({ text, cursor }: Draft, { prompt, width, rows }: FieldOptions): Frame {
  const indent = widthOf(prompt);
  const room = Math.max(4, width - indent - 1);
  const lines: string[] = [''];
  let column = 0;
  let at: Cursor = { row: 0, column: indent };
  for (const { segment, index } of GRAPHEMES.segment(`${text} `)) {
    const shown = segment === '\t' ? TAB : segment;
    const columns = segment === '\n' ? 0 : widthOf(shown);
    if (column + columns > room) {
      lines.push('');
      column = 0;
    }
    if (index === cursor) at = { row: lines.length - 1, column: indent + column };
    if (index === text.length) break;
    if (segment === '\n') {
      lines.push('');
      column = 0;
    } else {
      lines[lines.length - 1] += shown;
      column += columns;
    }
  }
  const first = Math.max(0, at.row - rows + 1);
  const blank = ' '.repeat(indent);
  return {
    lines: lines.slice(first, first + rows).map((line, row) => (first + row === 0 ? prompt : blank) + line),
    cursor: { row: at.row - first, column: at.column },
  };
}
