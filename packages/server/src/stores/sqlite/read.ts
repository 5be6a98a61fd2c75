import type { Database } from 'bun:sqlite';
import { type Fact, Fault, parseFact } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../../core/ports/store.ts';
import { rowLimit } from '../rules/limit.ts';
import { storable } from '../rules/text.ts';

type Row = { seq: number; body: string };

/** Throws where a fact on disk is damaged: it must not be skipped or guessed at. */
export function prepareRead(database: Database): (ref: SessionRef, after: number, limit: number) => Fact[] {
  const select = database.prepare<Row, [string, string, number, number]>(`
    SELECT seq, body FROM facts
    WHERE session = (SELECT row FROM sessions WHERE owner = ? AND id = ?) AND seq > ?
    ORDER BY seq LIMIT ?`);

  return (ref, after, limit) =>
    select.all(storable(ref.owner), storable(ref.id), after, rowLimit(limit)).map((row) => factOf(ref, row));
}

function factOf(ref: SessionRef, { seq, body }: Row): Fact {
  try {
    return parseFact(JSON.parse(body));
  } catch (error) {
    const cause = new Error(`fact ${seq} of session ${sessionKey(ref)} is damaged`, { cause: error });
    throw new Fault('storage_unavailable', `Fact ${seq} of the session is damaged.`, { cause });
  }
}
