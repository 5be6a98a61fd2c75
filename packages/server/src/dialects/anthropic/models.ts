/** Models as the API lists them. `created_at` is the start of the server. */
import type { z } from 'zod';
import type { ModelQuery } from './schemas.ts';

export const modelObject = (id: string, started: number) => ({
  type: 'model' as const,
  id,
  display_name: id,
  created_at: new Date(started).toISOString(),
});

type Model = ReturnType<typeof modelObject>;

/** One page of the list. Unknown ids are ignored. */
export function modelPage(models: readonly Model[], query: z.output<typeof ModelQuery>) {
  const { limit, after_id, before_id } = query;
  const at = (id: string | undefined) => models.findIndex((model) => model.id === id);
  const rest = models.slice(at(after_id) + 1);
  const end = at(before_id) < 0 ? rest.length : Math.max(0, at(before_id) - at(after_id) - 1);
  const found = rest.slice(0, end);
  // With `before_id`, the page is the one directly before it.
  const data = before_id !== undefined ? found.slice(-limit) : found.slice(0, limit);
  return {
    data,
    has_more: found.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
