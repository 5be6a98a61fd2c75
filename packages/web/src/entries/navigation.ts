/** Keyboard navigation through the cells of two columns. */
import type { Row } from './rows.ts';

export type Column = 'event' | 'frame';
export type Entry = { readonly row: number; readonly column: Column };

export const entryId = ({ key }: Row, column: Column): string => `${column}:${key}`;

/** The nearest entry of a column from a row on, in a direction; null if there is none. */
export function nearest(rows: readonly Row[], { row: from, column }: Entry, step: 1 | -1 = 1): Entry | null {
  for (let row = from; row >= 0 && row < rows.length; row += step)
    if (rows[row]?.[column]) return { row, column };
  return null;
}

const other = (column: Column): Column => (column === 'event' ? 'frame' : 'event');

/** The entry that a key moves to; null if it does not move. */
export function moved(rows: readonly Row[], { row, column }: Entry, key: string): Entry | null {
  switch (key) {
    case 'ArrowDown':
      return nearest(rows, { row: row + 1, column });
    case 'ArrowUp':
      return nearest(rows, { row: row - 1, column }, -1);
    case 'Home':
      return nearest(rows, { row: 0, column });
    case 'End':
      return nearest(rows, { row: rows.length - 1, column }, -1);
    case 'ArrowLeft':
    case 'ArrowRight': {
      if ((key === 'ArrowLeft') === (column === 'event')) return null;
      const beside = { row, column: other(column) };
      return nearest(rows, beside, -1) ?? nearest(rows, beside);
    }
    default:
      return null;
  }
}
