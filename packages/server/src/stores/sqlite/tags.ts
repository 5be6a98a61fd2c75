import type { Database } from 'bun:sqlite';
import type { PrincipalId } from '@parlance/protocol';
import type { TagCount } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';

export function prepareTags(database: Database): (owner: PrincipalId) => TagCount[] {
  const select = database.prepare<TagCount, [string]>(`
    SELECT value AS tag, count(*) AS sessions FROM sessions, json_each(tags)
    WHERE owner = ? AND tags <> '[]' AND archived = 0 AND ephemeral = 0
    GROUP BY value ORDER BY value`);
  return (owner) => select.all(storable(owner));
}
