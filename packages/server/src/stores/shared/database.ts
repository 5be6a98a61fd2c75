/** What the statements that both databases share need of a database. */
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Statement = readonly [sql: string, values: readonly unknown[]];
/** Yields statements and receives their rows, so that SQLite, which is synchronous, can run it uninterrupted. */
export type Statements<Result> = Generator<Statement, Result, Row[]>;

/** Placeholders are `$1`, `$2`, … */
export interface SharedDatabase {
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs a write with RETURNING. If it returns rows, tells followers in all processes that something has
   * changed, and resolves with true.
   */
  change(sql: string, values: readonly unknown[]): Promise<boolean>;
  /** Runs the statements in one transaction. */
  atomically<Result>(statements: () => Statements<Result>): Promise<Result>;
  readonly dialect: SqlDialect;
}

/** What the two databases spell differently. */
export type SqlDialect = {
  /** appended to a SELECT in a transaction: nobody else changes or removes its rows before the end */
  readonly lock: string;
  /** an expression: the clock of the database in milliseconds */
  readonly now: string;
  /** a function: the place of the second text in the first, or 0 */
  readonly position: string;
  /** rows with the column `value`, and those of labels with `key` as well */
  readonly elements: { readonly tags: string; readonly labels: string };
  /** Selects `candidate`: at least `most` rows of sessions whose title has all of the grams, which are separated by spaces, or all of them. */
  titled(grams: string, most: number): string;
  /** A condition, in the form of the partial indexes. */
  is(flag: string): string;
  not(flag: string): string;
  /** the columns of `sessions` that identify one, and their values */
  readonly key: readonly string[];
  keyOf(ref: SessionRef): readonly (string | number)[];
  /** Joins SELECTs so that each returns its rows in the order of an index, and no more than `max` if possible. */
  merge(selects: readonly string[], order: string, max: string): string;
};

/** Parameters of a statement. */
export class Values {
  readonly list: unknown[] = [];

  /** Returns the placeholder. */
  add(value: string | number): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }

  /** For places where PostgreSQL would take a large number as floating point, and not use the index. */
  integer(value: number): string {
    return `CAST(${this.add(value)} AS BIGINT)`;
  }

  text(value: string): string {
    return `CAST(${this.add(value)} AS TEXT)`;
  }

  /** A condition on `sessions`: the row is this session. */
  session(dialect: SqlDialect, ref: SessionRef): string {
    const condition = isSession(dialect, this.list.length + 1);
    this.list.push(...dialect.keyOf(ref));
    return condition;
  }
}

/** A condition on `sessions`, with the values of the key from placeholder `first` on. */
export const isSession = ({ key }: SqlDialect, first = 1): string =>
  key.map((column, index) => `${column} = $${first + index}`).join(' AND ');

/** Selects `row` of the session. */
export const selectSession = (dialect: SqlDialect, ref: SessionRef): Statement => [
  `SELECT row FROM sessions WHERE ${isSession(dialect)}`,
  dialect.keyOf(ref),
];

// PostgreSQL returns BIGINT as text, SQLite has no booleans, and JSON only as text.

export const Integer = z.coerce.number();
export const Flag = z.coerce.boolean();
export const json = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value): unknown => (typeof value === 'string' ? JSON.parse(value) : value), schema);
