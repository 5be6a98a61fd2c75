/** What REST shows of a conversation, read from its facts from the end: a long history costs no more than a short one. */
import type { Fact } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/engine.ts';

const PAGE = 500;

/** What a list is made of: `whole` says that the facts reach back to the beginning. */
export type ItemsOf<Item> = (facts: readonly Fact[], whole: boolean) => Item[];

/** The latest `limit` items since the conversation was last cleared, oldest first. */
export async function latest<Item>(
  engine: Engine,
  { ref, head }: SessionRecord,
  { limit, itemsOf }: { readonly limit: number; readonly itemsOf: ItemsOf<Item> },
): Promise<Item[]> {
  let facts: Fact[] = [];
  let items: Item[] = [];
  for (let after = head; after > 0 && items.length < limit; ) {
    const end = after;
    after = Math.max(0, end - PAGE);
    facts = [...(await engine.facts(ref, after, end - after)), ...facts];
    const cleared = facts.findLastIndex((fact) => fact.type === 'session.cleared');
    if (cleared >= 0) return itemsOf(facts.slice(cleared + 1), true).slice(-limit);
    items = itemsOf(facts, after === 0);
  }
  return items.slice(-limit);
}
