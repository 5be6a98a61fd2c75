/** Cursors and limits of lists. Cursors are opaque to clients, and validated on use. */
import { Fault } from '@parlance/protocol';

export type Position = { readonly updatedAt: number; readonly row: number };

export const encodeCursor = ({ updatedAt, row }: Position): string =>
  Buffer.from(`${updatedAt}:${row}`).toString('base64url');

/** Throws an `invalid` fault. */
export function decodeCursor(cursor: string): Position {
  const match = /^(-?\d{1,16}):(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw new Fault('invalid', 'This is not a cursor of this list.');
  return { updatedAt: Number(match[1]), row: Number(match[2]) };
}

// Cursors of search results: opaque to clients, validated on use.

type SearchPosition = { readonly at: number; readonly row: number; readonly seq: number };

export const encodeSearchCursor = ({ at, row, seq }: SearchPosition): string =>
  Buffer.from(`${at}:${row}:${seq}`).toString('base64url');

/** Throws an `invalid` fault. */
export function decodeSearchCursor(cursor: string): SearchPosition {
  const match = /^(\d{1,16}):(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw new Fault('invalid', 'This is not a cursor of this search.');
  return { at: Number(match[1]), row: Number(match[2]), seq: Number(match[3]) };
}

/** The requested row count as a safe integer that can be incremented; negative counts become 0. */
const MAX_ROWS = 2 ** 31;

export const rowLimit = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 0), MAX_ROWS);

/** `found` has one row more than `limit` if there is a next page. */
export function pageOf<Found>(
  found: readonly Found[],
  limit: number,
  cursorOf: (last: Found) => string,
): { page: Found[]; next: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { page, next: last && found.length > limit ? cursorOf(last) : null };
}
