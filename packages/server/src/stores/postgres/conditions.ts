/** Session filters as SQL. */
import type { SessionFilter } from '../../core/ports/event-store.ts';
import { storable } from '../shared/text.ts';

/** Parameters of a statement; `add` returns the placeholder. */
export class Values {
  readonly list: unknown[] = [];

  add(value: string | number): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/**
 * All conditions of the filter except the status: each status value is a separate query if an index provides
 * the order.
 */
export function conditionsOf(filter: SessionFilter, values: Values): string[] {
  const { owner, domain, archived, ephemeral, pinned, tag, label, title, awaitingApproval } = filter;
  const conditions: string[] = [];
  if (owner !== undefined) conditions.push(`owner = ${values.add(storable(owner))}`);
  if (domain !== undefined) conditions.push(`domain = ${values.add(storable(domain))}`);
  if (archived !== 'included') conditions.push(archived === 'only' ? 'archived' : 'NOT archived');
  if (ephemeral !== 'included') conditions.push(ephemeral === 'only' ? 'ephemeral' : 'NOT ephemeral');
  if (pinned) conditions.push('pinned');
  // The first condition must match the partial index.
  if (tag !== undefined)
    conditions.push(`tags <> '[]' AND tags @> jsonb_build_array(${values.add(storable(tag))}::text)`);
  if (label !== undefined) {
    const name = values.add(storable(label.name));
    conditions.push(`labels ->> ${name}::text = ${values.add(storable(label.value))}`);
  }
  // With collation C, only ASCII letters are lowercased.
  if (title !== undefined)
    conditions.push(`strpos(lower(title), lower(${values.add(storable(title))}::text COLLATE "C")) > 0`);
  // must match the condition of the partial indexes
  if (awaitingApproval) conditions.push('approval IS NOT NULL');
  return conditions;
}

export const whereOf = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
