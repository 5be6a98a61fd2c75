/** Keyboard navigation through the cells of two columns. */
import type { Row } from './rows.ts';

export type Column = 'event' | 'frame';
export type Entry = { readonly row: number; readonly column: Column };

export const entryId = ({ key }: Row, column: Column): string => `${column}:${key}`;

/** The nearest entry of a column from a row in a direction; null if there is none. */
export function nearest(rows: readonly Row[], column: Column, from: number, step: 1 | -1): Entry | null {
  for (let row = from; row >= 0 && row < rows.length; row += step)
    if (rows[row]?.[column]) return { row, column };
  return null;
}

const other = (column: Column): Column => (column === 'event' ? 'frame' : 'event');

/** The entry that a key moves to; null if it does not move. */
export function moved(rows: readonly Row[], { row, column }: Entry, key: string): Entry | null {
  switch (key) {
    case 'ArrowDown':
      return nearest(rows, column, row + 1, 1);
    case 'ArrowUp':
      return nearest(rows, column, row - 1, -1);
    case 'Home':
      return nearest(rows, column, 0, 1);
    case 'End':
      return nearest(rows, column, rows.length - 1, -1);
    case 'ArrowLeft':
    case 'ArrowRight': {
      const beside = other(column);
      if ((key === 'ArrowLeft') === (column === 'event')) return null;
      return nearest(rows, beside, row, -1) ?? nearest(rows, beside, row, 1);
    }
    default:
      return null;
  }
}
