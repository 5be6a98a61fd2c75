/** How near to the viewport something is. */
import { ancestorsOf } from '../dom/flat-tree.ts';
import { elementAt, type Point, pictureOf } from '../dom/visibility.ts';
import type { Markup } from './markup.ts';

/** 0 is in the viewport, 1 is near it and 2 far below, -1 near it and -2 far above */
export type Rank = -2 | -1 | 0 | 1 | 2;

export const isFar = (rank: Rank | null): boolean => rank === 2 || rank === -2;

/** The viewport, measured once per snapshot. */
export type View = {
  readonly width: number;
  readonly height: number;
  readonly scrollX: number;
  readonly scrollY: number;
  /** elements that are visible at some point of the viewport, with their ancestors */
  readonly seen: ReadonlySet<Element>;
};

const ROWS = 4;
const COLUMNS = 3;

export function measureView(document: Document): View {
  const { innerWidth: width, innerHeight: height, scrollX, scrollY } = window;
  const seen = new Set<Element>();
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const point = { x: (width * (column + 0.5)) / COLUMNS, y: (height * (row + 0.5)) / ROWS };
      const hit = elementAt(point, document);
      if (!hit || seen.has(hit)) continue;
      seen.add(hit);
      for (const ancestor of ancestorsOf(hit)) seen.add(ancestor);
    }
  }
  const right = document.scrollingElement?.scrollWidth ?? width;
  return { width: Math.max(width, right - scrollX), height, scrollX, scrollY, seen };
}

/** Inside of something that scrolls sideways. */
function isInStrip(element: Element): boolean {
  for (const ancestor of ancestorsOf(element)) {
    if (ancestor.scrollWidth <= ancestor.clientWidth + 1 || ancestor.clientWidth === 0) continue;
    const { overflowX } = getComputedStyle(ancestor);
    if (overflowX === 'auto' || overflowX === 'scroll') return true;
  }
  return false;
}

/** Null if it cannot be scrolled into view. `origin` is where its document is in the tab. */
export function rankOf(element: Element, origin: Point, view: View): Rank | null {
  const box = (pictureOf(element) ?? element).getBoundingClientRect();
  const left = box.left + origin.x;
  const top = box.top + origin.y;
  const bottom = top + box.height;
  const isBeside = left + box.width + view.scrollX <= 0 || left >= view.width;
  if (bottom + view.scrollY < 0 || (isBeside && !isInStrip(element))) return null;
  if (bottom >= 0 && top < view.height) return 0;
  if (bottom < 0) return bottom >= -view.height ? -1 : -2;
  return top < 2 * view.height ? 1 : 2;
}

// The parts of a snapshot before it is cut to its size.

export type Separator = '' | ' ' | '<br>';

export type Leaf = {
  readonly kind: 'leaf';
  readonly html: string;
  /** of an interactive element; `html` is its content then */
  readonly element: Element | null;
  readonly markup: Markup | null;
  readonly rank: Rank;
  /** what separates it from the part before */
  readonly before: Separator;
};

export type Branch = {
  readonly kind: 'branch';
  readonly open: string;
  readonly close: string;
  /** an interactive element that contains others */
  readonly element: Element | null;
  readonly markup: Markup | null;
  readonly children: (Leaf | Branch)[];
};
