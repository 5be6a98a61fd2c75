/** Session filters as SQL. */
import type { SessionFilter } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';

export type Values = Record<string, string | number>;
export type Conditions = { readonly conditions: string[]; readonly values: Values };

export function conditionsOf(filter: SessionFilter): Conditions {
  const { owner, domain, status, archived, ephemeral, pinned, tag, label, title, awaitingApproval } = filter;
  const conditions: string[] = [];
  const values: Values = {};
  if (owner !== undefined) {
    conditions.push('owner = $owner');
    values.owner = storable(owner);
  }
  if (domain !== undefined) {
    conditions.push('domain = $domain');
    values.domain = storable(domain);
  }
  if (status !== undefined) {
    conditions.push('status IN (SELECT value FROM json_each($status))');
    values.status = JSON.stringify(status);
  }
  if (archived !== 'included') conditions.push(archived === 'only' ? 'archived <> 0' : 'archived = 0');
  if (ephemeral !== 'included') conditions.push(ephemeral === 'only' ? 'ephemeral <> 0' : 'ephemeral = 0');
  if (pinned) conditions.push('pinned <> 0');
  if (tag !== undefined) {
    // Tags are never empty: the first condition must match the partial indexes.
    conditions.push("tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = $tag)");
    values.tag = storable(tag);
  }
  if (label !== undefined) {
    conditions.push(
      'EXISTS (SELECT 1 FROM json_each(labels) WHERE key = $labelName AND value = $labelValue)',
    );
    values.labelName = storable(label.name);
    values.labelValue = storable(label.value);
  }
  if (title !== undefined) {
    conditions.push('instr(lower(title), lower($title)) > 0');
    values.title = storable(title);
  }
  // Like `ephemeral <> 0` above, must match the condition of the partial indexes, so that SQLite uses them.
  if (awaitingApproval) conditions.push('approval IS NOT NULL');
  return { conditions, values };
}

export const whereOf = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
