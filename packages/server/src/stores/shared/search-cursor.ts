/** Cursors of search results: opaque to clients, validated on use. */
import { Fault } from '@parlance/protocol';

export type SearchPosition = { readonly at: number; readonly row: number; readonly seq: number };

export const encodeSearchCursor = ({ at, row, seq }: SearchPosition): string =>
  Buffer.from(`${at}:${row}:${seq}`).toString('base64url');

/** Throws an `invalid` fault. */
export function decodeSearchCursor(cursor: string): SearchPosition {
  const match = /^(\d{1,16}):(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw new Fault('invalid', 'This is not a cursor of this search.');
  return { at: Number(match[1]), row: Number(match[2]), seq: Number(match[3]) };
}
