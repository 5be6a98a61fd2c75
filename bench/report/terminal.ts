/** Renders a table as text. */
import type { Column, Figure, Row, Table } from '../tables/table.ts';

export function shown(figure: Figure | undefined, digits = 0): string {
  if (figure === undefined || figure === null) return '–';
  if (typeof figure === 'boolean') return figure ? 'yes' : 'NO';
  if (typeof figure === 'string') return figure;
  return Number.isFinite(figure)
    ? figure.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : '–';
}

const line = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
    .join('  ');

/** Absent subjects show the reason instead of figures. */
export function tableText(table: Table, rows: readonly Row[]): string {
  const head = ['', table.unit, ...table.columns.map(({ title }) => title)];
  const cells = (row: Row, columns: readonly Column[]) => [
    row.checkout === undefined ? row.subject : `${row.subject} (other)`,
    shown(row.size),
    ...(row.figures ? columns.map(({ key, digits }) => shown(row.figures?.[key], digits)) : []),
  ];
  const body = rows.map((row) => ({ row, cells: cells(row, table.columns) }));
  const widths = head.map((title, index) =>
    Math.max(title.length, ...body.map(({ cells }) => cells[index]?.length ?? 0)),
  );
  const lines = body.map(({ row, cells }) =>
    row.figures ? line(cells, widths) : `${line(cells, widths)}  absent: ${row.absent}`,
  );
  return [table.title, line(head, widths), ...lines].join('\n');
}
