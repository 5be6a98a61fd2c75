/** List cursors: opaque to clients, validated on use. */
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
