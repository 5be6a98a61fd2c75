/** Chooses what is sent of a large page: what is in view first, then what is near, then the rest in page order. */
import type { Leaf } from './parts.ts';
import type { Rank } from './rank.ts';

/** Bytes of JSON of the whole markup; a request stays below 40 KB with it. */
export const MAX_BYTES = 34_000;
/**
 * Of a page that does not fit, what is in view comes first, then what is near. Servers show a model the beginning of what they
 * get, so that little of what is above the view is sent: its beginning, and what is just above.
 */
const SHARES: readonly (readonly [rank: Rank, bytes: number])[] = [
  [0, MAX_BYTES],
  [1, MAX_BYTES],
  [-1, 2_500],
  [-2, 1_500],
  [2, 10_000],
];
const PER_ELEMENT = 22;

export type Choice = { readonly chosen: ReadonlySet<Leaf>; readonly left: number };

export function choose(leaves: readonly Leaf[], max = MAX_BYTES): Choice {
  const prices = leaves.map(priceOf);
  const total = prices.reduce((sum, price) => sum + price, 0);
  if (total <= max) return { chosen: new Set(leaves), left: 0 };
  const chosen = new Set<Leaf>();
  let spent = 0;
  for (const [rank, bytes] of SHARES) {
    const limit = Math.min(max, spent + bytes);
    // The nearest first.
    const indices = rank === -1 ? [...leaves.keys()].reverse() : leaves.keys();
    for (const index of indices) {
      const leaf = leaves[index];
      if (leaf?.rank !== rank) continue;
      const price = prices[index] ?? 0;
      if (spent + price > limit) break;
      spent += price;
      chosen.add(leaf);
    }
  }
  return { chosen, left: leaves.length - chosen.size };
}

function priceOf({ html, markup, before }: Leaf): number {
  const own = markup ? encodedLength(markup.head) + encodedLength(markup.tail) + markup.close.length + 5 : 0;
  return own + encodedLength(html) + before.length + PER_ELEMENT;
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
