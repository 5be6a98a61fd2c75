import { PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Share } from '../../core/ports/shares.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import type { Database } from './database.ts';

const ShareRow = z
  .object({
    id: z.string(),
    owner: PrincipalId,
    session: SessionId,
    hash: z.string(),
    seq: z.coerce.number(),
    createdAt: z.coerce.number(),
  })
  .transform(({ owner, session, ...share }): Share => ({ ...share, ref: { owner, id: session } }));

const SELECT_SHARE = `
  SELECT shares.id, sessions.owner, sessions.id AS session, hash, seq, shares.created_at AS "createdAt"
  FROM shares JOIN sessions ON sessions.row = shares.session`;

const keyOf = (ref: SessionRef) => {
  const { owner, id } = storableRef(ref);
  return [bucketOf(owner), owner, id];
};

export const prepareShares = (database: Database) => ({
  async find(hash: string): Promise<Share | null> {
    const [found] = await database.query(`${SELECT_SHARE} WHERE hash = $1`, [hash]);
    return found ? ShareRow.parse(found) : null;
  },

  async list(ref: SessionRef): Promise<Share[]> {
    const rows = await database.query(
      `${SELECT_SHARE} WHERE bucket = $1 AND owner = $2 AND sessions.id = $3 ORDER BY shares.created_at, shares.id`,
      keyOf(ref),
    );
    return rows.map((row) => ShareRow.parse(row));
  },

  /** Locks the session, so that it is not erased and no other node adds a share between count and insert. */
  add: (share: Share, max: number): Promise<'added' | 'too_many' | 'no_session'> =>
    database.transaction(async ({ query }) => {
      const [session] = await query(
        'SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3 FOR UPDATE',
        keyOf(share.ref),
      );
      if (!session) return 'no_session';
      const [counted] = await query('SELECT count(*) AS shares FROM shares WHERE session = $1', [
        session.row,
      ]);
      if (Number(counted?.shares) >= max) return 'too_many';
      await query('INSERT INTO shares (hash, id, session, seq, created_at) VALUES ($1, $2, $3, $4, $5)', [
        share.hash,
        share.id,
        session.row,
        share.seq,
        share.createdAt,
      ]);
      return 'added';
    }),

  async remove(ref: SessionRef, id: string): Promise<boolean> {
    const removed = await database.query(
      `DELETE FROM shares WHERE shares.id = $4
         AND session = (SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3) RETURNING 1 AS one`,
      [...keyOf(ref), id],
    );
    return removed.length > 0;
  },
});
