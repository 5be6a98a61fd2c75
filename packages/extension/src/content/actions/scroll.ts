/** Scrolling: the page, or the container of an element. */
import { ancestorsOf, elementsIn } from '../dom/flat-tree.ts';
import { isText } from '../dom/kinds.ts';
import { folded, textOf } from '../dom/text.ts';
import { isRendered } from '../dom/visibility.ts';
import { elementById } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { frames } from './reach.ts';

export type ScrollOptions = { readonly down?: boolean; readonly pages?: number; readonly index?: number };

export type ScrollResult = { readonly moved: number; readonly atStart: boolean; readonly atEnd: boolean };

/** A page is a little less than what is visible, so that nothing is missed. */
const PAGE = 0.9;

export async function scroll({ down = true, pages = 1, index }: ScrollOptions): Promise<ScrollResult> {
  const scroller = scrollerOf(index === undefined ? null : elementById(index));
  const before = scroller.scrollTop;
  const distance = scroller.clientHeight * PAGE * pages * (down ? 1 : -1);
  scroller.dispatchEvent(
    new WheelEvent('wheel', { deltaY: distance, bubbles: true, cancelable: true, composed: true }),
  );
  scroller.scrollBy({ top: distance, behavior: 'instant' });
  await frames(2);
  if (down && before !== scroller.scrollTop) await moreLoaded(scroller);
  const { scrollTop } = scroller;
  return {
    moved: Math.round(scrollTop - before),
    atStart: scrollTop <= 1,
    atEnd: isAtEnd(scroller),
  };
}

const LOADS_MS = 700;

/** At the end, a page may load more. */
async function moreLoaded(scroller: Element): Promise<void> {
  const { scrollHeight } = scroller;
  const until = performance.now() + LOADS_MS;
  while (performance.now() < until && scroller.scrollHeight === scrollHeight && isAtEnd(scroller))
    await frames(2);
}

const isAtEnd = ({ scrollTop, scrollHeight, clientHeight }: Element): boolean =>
  scrollTop + clientHeight >= scrollHeight - 1;

const isScroller = (element: Element): boolean => {
  if (element.scrollHeight <= element.clientHeight + 1 || element.clientHeight === 0) return false;
  const { overflowY } = getComputedStyle(element);
  return overflowY === 'auto' || overflowY === 'scroll' || overflowY === 'overlay';
};

/** The nearest container of the element that scrolls; without an element, the page or its largest container. */
export function scrollerOf(element: Element | null): Element {
  if (element) {
    if (isScroller(element)) return element;
    for (const ancestor of ancestorsOf(element)) if (isScroller(ancestor)) return ancestor;
  }
  const page = document.scrollingElement ?? document.documentElement;
  if (element || page.scrollHeight > page.clientHeight + 1) return page;
  let [largest, area] = [page, 0];
  for (const each of elementsIn(document.body)) {
    const size = each.clientWidth * each.clientHeight;
    if (size > area && isScroller(each)) [largest, area] = [each, size];
  }
  return largest;
}

/** Scrolls to the first element that contains the text. */
export async function findText(text: string): Promise<{ found: number; context: string }> {
  const plain = text.trim().toLowerCase();
  const matches = matching((content) => content.toLowerCase().includes(plain));
  // Accents and blanks do not count either, but comparing so is slow.
  if (matches.length === 0) matches.push(...matching((content) => folded(content).includes(folded(text))));
  const [first] = matches.filter(
    (match) => !matches.some((other) => other !== match && match.contains(other)),
  );
  if (!first)
    throw new PageFailure(
      'TEXT_NOT_FOUND',
      `${JSON.stringify(text.slice(0, 100))} is not on the page. It may appear after scrolling.`,
    );
  first.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  await frames(2);
  return { found: matches.length, context: textOf(first, 300) };
}

/** Rendered elements with text of their own that fits. */
function matching(fits: (content: string) => boolean): HTMLElement[] {
  const found: HTMLElement[] = [];
  for (const element of elementsIn(document.body)) {
    const own = [...element.childNodes].some((node) => isText(node) && /\S/.test(node.data));
    if (own && fits(element.textContent ?? '') && isRendered(element)) found.push(element);
  }
  return found;
}
