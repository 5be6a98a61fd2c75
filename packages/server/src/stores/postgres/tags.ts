import type { PrincipalId } from '@parlance/protocol';
import type { TagCount } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';

export const prepareTags =
  (database: Statements) =>
  async (owner: PrincipalId): Promise<TagCount[]> => {
    const rows = await database.query(
      `SELECT tag, count(*) AS sessions FROM sessions, jsonb_array_elements_text(tags) AS tag
       WHERE owner = $1 AND tags <> '[]' AND NOT archived AND NOT ephemeral
       GROUP BY tag ORDER BY tag COLLATE "C"`,
      [storable(owner)],
    );
    return rows.map(({ tag, sessions }) => ({ tag: String(tag), sessions: Number(sessions) }));
  };
