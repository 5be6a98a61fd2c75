import type { Database } from 'bun:sqlite';
import { PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Share } from '../../core/ports/shares.ts';
import { storableRef } from '../shared/text.ts';

const ShareRow = z
  .object({
    id: z.string(),
    owner: PrincipalId,
    session: SessionId,
    hash: z.string(),
    seq: z.number(),
    createdAt: z.number(),
  })
  .transform(({ owner, session, ...share }): Share => ({ ...share, ref: { owner, id: session } }));

const SELECT_SHARE = `
  SELECT shares.id, sessions.owner, sessions.id AS session, hash, seq, shares.created_at AS createdAt
  FROM shares JOIN sessions ON sessions.row = shares.session`;
const OF_SESSION = 'session = (SELECT row FROM sessions WHERE owner = ? AND id = ?)';

export function prepareShares(database: Database) {
  const select = database.prepare<unknown, [string]>(`${SELECT_SHARE} WHERE hash = ?`);
  const selectOf = database.prepare<unknown, [string, string]>(
    `${SELECT_SHARE} WHERE sessions.owner = ? AND sessions.id = ? ORDER BY shares.created_at, shares.id`,
  );
  const findSession = database.prepare<{ row: number }, [string, string]>(
    'SELECT row FROM sessions WHERE owner = ? AND id = ?',
  );
  const count = database.prepare<{ shares: number }, [number]>(
    'SELECT count(*) AS shares FROM shares WHERE session = ?',
  );
  const insert = database.prepare(
    'INSERT INTO shares (hash, id, session, seq, created_at) VALUES ($hash, $id, $row, $seq, $createdAt)',
  );
  const remove = database.prepare<unknown, [string, string, string]>(
    `DELETE FROM shares WHERE id = ? AND ${OF_SESSION}`,
  );

  // IMMEDIATE: another process must not add between the count and the insert.
  const add = database.transaction((share: Share, max: number) => {
    const { owner, id: session } = storableRef(share.ref);
    const found = findSession.get(owner, session);
    if (!found) return 'no_session';
    if ((count.get(found.row)?.shares ?? 0) >= max) return 'too_many';
    const { hash, id, seq, createdAt } = share;
    insert.run({ hash, id, seq, createdAt, row: found.row });
    return 'added';
  }).immediate;

  return {
    find(hash: string): Share | null {
      const found = select.get(hash);
      return found ? ShareRow.parse(found) : null;
    },
    list(ref: SessionRef): Share[] {
      const { owner, id } = storableRef(ref);
      return selectOf.all(owner, id).map((row) => ShareRow.parse(row));
    },
    add: (share: Share, max: number): 'added' | 'too_many' | 'no_session' => add(share, max),
    remove(ref: SessionRef, share: string): boolean {
      const { owner, id } = storableRef(ref);
      return remove.run(share, owner, id).changes > 0;
    },
  };
}
