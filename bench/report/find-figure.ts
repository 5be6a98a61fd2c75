import type { Row } from '../tables/table.ts';

export type Cell = {
  readonly table: string;
  readonly subject: string;
  readonly size: number;
  readonly key: string;
};
export type Find = (cell: Cell) => number | null;

/** Null if it was not measured. */
export const finder =
  (rows: readonly Row[]): Find =>
  ({ table, subject, size, key }) => {
    const row = rows.find((row) => row.table === table && row.subject === subject && row.size === size);
    const figure = row?.figures?.[key];
    return typeof figure === 'number' && Number.isFinite(figure) ? figure : null;
  };
