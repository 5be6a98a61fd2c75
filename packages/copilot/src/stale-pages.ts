/** A prompt contains only the last state of the page. Earlier ones would mislead the model and cost tokens. */
import { type Part, textPart } from '@parlance/protocol';

const STALE = textPart('(an earlier state of the page)');

type WithParts = { readonly kind: string; readonly parts?: readonly Part[] };

const isPage = (part: Part): boolean => part.type === 'page';

export function withoutStalePages<Item extends WithParts>(items: readonly Item[]): readonly Item[] {
  const last = items.findLastIndex((item) => item.parts?.some(isPage));
  if (last <= 0) return items;
  return items.map((item, index) =>
    index < last && item.parts?.some(isPage)
      ? { ...item, parts: item.parts.map((part) => (isPage(part) ? STALE : part)) }
      : item,
  );
}
