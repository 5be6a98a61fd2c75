/** Compares two checkouts: each figure of both, and their ratio. */
import type { Column, Row, Table } from '../tables/table.ts';
import { shown } from './terminal.ts';

export type Compared = {
  readonly table: string;
  readonly subject: string;
  readonly size: number;
  readonly figure: string;
  readonly before: number;
  readonly after: number;
  /** below 1: this checkout is better */
  readonly ratio: number;
};

/**
 * Rows with a checkout belong to the other one. Leaves out figures that are missing or zero in one of them.
 */
export function compared(table: Table, rows: readonly Row[]): Compared[] {
  return rows
    .filter(({ checkout }) => checkout === undefined)
    .flatMap((after) => {
      const before = rows.find(
        ({ checkout, subject, size }) =>
          checkout !== undefined && subject === after.subject && size === after.size,
      );
      return table.columns.flatMap((column) => pairOf(column, before, after));
    });
}

function pairOf({ key, title }: Column, before: Row | undefined, after: Row): Compared[] {
  const [was, is] = [before?.figures?.[key], after.figures?.[key]];
  if (typeof was !== 'number' || typeof is !== 'number' || !(was > 0)) return [];
  const { table, subject, size } = after;
  return [{ table, subject, size, figure: title, before: was, after: is, ratio: is / was }];
}

export function comparisonText(pairs: readonly Compared[]): string {
  const cells = pairs.map(({ table, subject, size, figure, before, after, ratio }) => [
    `${table}: ${subject}, ${shown(size)}`,
    figure,
    shown(before, 2),
    shown(after, 2),
    shown(ratio, 3),
  ]);
  const all = [['', 'figure', 'other', 'this', 'this/other'], ...cells];
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
