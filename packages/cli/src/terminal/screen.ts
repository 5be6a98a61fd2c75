/**
 * The bottom of the terminal: final lines scroll up and are never rewritten; the live lines below them are
 * redrawn in place. Each update is a single write in a synchronized update, to avoid flicker.
 */
import { cut, widthOf } from './layout.ts';

export type Cursor = { readonly row: number; readonly column: number };

/** The live lines; `cursor` is relative to the first one. */
export type Frame = { readonly lines: readonly string[]; readonly cursor: Cursor | null };

export type Output = {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
};

const BEGIN = '\x1b[?2026h\x1b[?25l';
const END = '\x1b[?2026l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';
const RESET = '\x1b[0m';

const up = (rows: number): string => (rows > 0 ? `\x1b[${rows}A` : '');
const toColumn = (column: number): string => `\r${column > 0 ? `\x1b[${column}C` : ''}`;

const EMPTY: Frame = { lines: [], cursor: null };

export class Screen {
  #shown: Frame = EMPTY;
  /** row of the cursor, relative to the first live line */
  #row = 0;
  #columns: number;

  constructor(private readonly output: Output) {
    this.#columns = output.columns;
  }

  get columns(): number {
    return Math.max(10, this.output.columns);
  }

  get rows(): number {
    return Math.max(4, this.output.rows);
  }

  /** Prints `final` lines above the frame. */
  draw(final: readonly string[], frame: Frame): void {
    const next = clipped(narrowed(frame, this.columns), this.rows - 1);
    if (final.length === 0 && this.#columns === this.columns && isSame(this.#shown, next)) return;
    const text =
      final.length > 0 || this.#columns !== this.columns ? this.#all(final, next) : this.#changed(next);
    this.#shown = next;
    this.#columns = this.columns;
    this.output.write(`${BEGIN}${text}${this.#cursor(next)}${END}`);
  }

  /** Removes the last frame and puts the cursor on a new line. */
  close(final: readonly string[]): void {
    this.draw(final, EMPTY);
    this.output.write(SHOW_CURSOR);
  }

  /** Removes the live lines for a program that writes by itself. The next `draw` restores them. */
  release(): void {
    this.close([]);
  }

  /** Redraws everything from the top, after the user has cleared the screen. */
  clear(): void {
    this.output.write('\x1b[H\x1b[2J');
    this.#shown = EMPTY;
    this.#row = 0;
  }

  #all(final: readonly string[], frame: Frame): string {
    const rows = [...final, ...frame.lines].map((line) => `${line}${RESET}${CLEAR_LINE}`);
    const start = `${up(this.#rowsAbove())}\r`;
    this.#row = frame.lines.length === 0 ? 0 : frame.lines.length - 1;
    // Without live lines, the cursor is on the line after the last final one.
    const last = frame.lines.length === 0 && final.length > 0 ? '\r\n' : '';
    return `${start}${CLEAR_BELOW}${rows.join('\r\n')}${last}`;
  }

  /** Redraws only changed lines. */
  #changed(frame: Frame): string {
    const before = this.#shown.lines;
    let text = '';
    for (const [row, line] of frame.lines.entries()) {
      if (row < before.length && before[row] === line) continue;
      text += `${this.#moveTo(row)}${line}${RESET}${CLEAR_LINE}`;
    }
    if (frame.lines.length < before.length)
      text +=
        frame.lines.length === 0
          ? `${this.#moveTo(0)}${CLEAR_BELOW}`
          : `${this.#moveTo(frame.lines.length - 1)}\r\n${CLEAR_BELOW}${up(1)}`;
    return text;
  }

  /** Uses line feeds to create lines, since the screen may have to scroll. */
  #moveTo(row: number): string {
    const distance = row - this.#row;
    this.#row = row;
    return distance > 0 ? '\r\n'.repeat(distance) : `${up(-distance)}\r`;
  }

  #cursor({ lines, cursor }: Frame): string {
    if (lines.length === 0) return '';
    const { row, column } = cursor ?? { row: lines.length - 1, column: 0 };
    const text = `${this.#moveTo(row)}${toColumn(column)}`;
    return cursor ? `${text}${SHOW_CURSOR}` : text;
  }

  /**
   * Rows from the cursor to the first live line. After a change of width, terminals have rewrapped the lines.
   */
  #rowsAbove(): number {
    if (this.#columns === this.columns) return this.#row;
    const above = this.#shown.lines.slice(0, this.#row);
    const rows = above.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / this.columns)), 0);
    const column = this.#shown.cursor?.column ?? 0;
    return rows + Math.floor(column / this.columns);
  }
}

/** A line wrapped by the terminal would shift all others. */
const narrowed = ({ lines, cursor }: Frame, columns: number): Frame => ({
  lines: lines.map((line) => cut(line, columns)),
  cursor,
});

/** The last lines, if there is not enough room. */
function clipped({ lines, cursor }: Frame, rows: number): Frame {
  const hidden = lines.length - rows;
  if (hidden <= 0) return { lines, cursor };
  const row = (cursor?.row ?? 0) - hidden;
  return { lines: lines.slice(hidden), cursor: cursor && row >= 0 ? { row, column: cursor.column } : null };
}

const isSame = (a: Frame, b: Frame): boolean =>
  a.lines.length === b.lines.length &&
  a.lines.every((line, row) => line === b.lines[row]) &&
  a.cursor?.row === b.cursor?.row &&
  a.cursor?.column === b.cursor?.column;
