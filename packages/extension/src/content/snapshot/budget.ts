/** Chooses what is sent of a large page: what is in view first, then what is near, then the rest in page order. */
import type { Leaf } from './parts.ts';

/** Bytes of JSON of the whole markup; a request stays below 40 KB with it. */
export const MOST_BYTES = 34_000;
/** Of a page that does not fit, what is far from view gets only this share, so that what is in view is read first. */
const FAR_SHARE = 0.3;
const PER_ELEMENT = 22;

export type Choice = { readonly chosen: ReadonlySet<Leaf>; readonly left: number };

export function choose(leaves: readonly Leaf[], most = MOST_BYTES): Choice {
  const prices = leaves.map(priceOf);
  const total = prices.reduce((sum, price) => sum + price, 0);
  if (total <= most) return { chosen: new Set(leaves), left: 0 };
  const chosen = new Set<Leaf>();
  let spent = 0;
  const limits = [most, most, most * FAR_SHARE];
  for (const rank of [0, 1, 2] as const) {
    const limit = Math.min(most, rank === 2 ? spent + (limits[2] ?? 0) : most);
    for (const [index, leaf] of leaves.entries()) {
      if (leaf.rank !== rank) continue;
      const price = prices[index] ?? 0;
      if (spent + price > limit) break;
      spent += price;
      chosen.add(leaf);
    }
  }
  return { chosen, left: leaves.length - chosen.size };
}

function priceOf({ html, markup, broken }: Leaf): number {
  const own = markup ? encodedLength(markup.head) + encodedLength(markup.tail) + markup.close.length + 5 : 0;
  return own + encodedLength(html) + (broken ? 4 : 0) + PER_ELEMENT;
}

/** Bytes in JSON: quotes and backslashes are escaped, other characters than ASCII take two to four bytes. */
export function encodedLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 34 || code === 92 || code < 32) length++;
    else if (code > 127) length += code < 0x800 ? 1 : 2;
  }
  return length;
}
