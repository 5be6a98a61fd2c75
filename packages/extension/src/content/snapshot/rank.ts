/** How near to the viewport something is. */
import type { Point } from '../dom/visibility.ts';

/** 0 is in the viewport, 1 near it, 2 elsewhere */
export type Rank = 0 | 1 | 2;

/** Null if it cannot be scrolled into view. */
export function rankOf(element: Element, origin: Point): Rank | null {
  const box = element.getBoundingClientRect();
  const [left, top] = [box.left + origin.x, box.top + origin.y];
  const [right, bottom] = [left + box.width, top + box.height];
  if (right + window.scrollX <= 0 || bottom + window.scrollY < 0) return null;
  if (left >= window.innerWidth + Math.max(0, scrollsBy())) return null;
  const height = window.innerHeight;
  if (bottom >= 0 && top < height) return 0;
  return bottom >= -height && top < 2 * height ? 1 : 2;
}

/** How far the page can be scrolled to the right. */
function scrollsBy(): number {
  const root = document.scrollingElement;
  return root ? root.scrollWidth - window.innerWidth : 0;
}
