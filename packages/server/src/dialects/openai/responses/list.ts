/** Paginated lists of items. */
import { z } from 'zod';
import { invalid } from '../../kit/request-fault.ts';

export const PageQuery = z.object({
  order: z.enum(['asc', 'desc']).default('desc'),
  /** ids of items have the name of their session */
  after: z.string().max(2_600).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});
export type PageQuery = z.output<typeof PageQuery>;

/** `items` are all items, oldest first. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { order, after, limit }: PageQuery,
) {
  const ordered = order === 'asc' ? items : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw invalid('after', `There is no item ${after}.`);
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  };
}
