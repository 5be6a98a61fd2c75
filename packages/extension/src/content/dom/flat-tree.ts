/** The page as a user sees it: one tree with shadow roots, slots and frames of the same origin. */
import { isElement } from './kinds.ts';

type ChromeDom = { openOrClosedShadowRoot?(element: Element): ShadowRoot | null };

const chromeDom = (): ChromeDom | undefined => (globalThis as { chrome?: { dom?: ChromeDom } }).chrome?.dom;

/** Extensions can also read closed roots. Only custom elements have them in practice. */
export function shadowOf(element: Element): ShadowRoot | null {
  if (element.shadowRoot) return element.shadowRoot;
  if (!element.localName.includes('-')) return null;
  return chromeDom()?.openOrClosedShadowRoot?.(element) ?? null;
}

/** Null for a frame of another origin, and for elements that are not frames. */
export function frameDocument(element: Element): Document | null {
  if (element.localName !== 'iframe' && element.localName !== 'frame') return null;
  try {
    return (element as HTMLIFrameElement).contentDocument;
  } catch {
    return null;
  }
}

/** The children that are rendered in its place. */
export function childrenOf(element: Element): ArrayLike<Node> {
  const shadow = shadowOf(element);
  if (shadow) return shadow.childNodes;
  if (element.localName === 'slot') {
    const assigned = (element as HTMLSlotElement).assignedNodes({ flatten: true });
    if (assigned.length > 0) return assigned;
  }
  const inner = frameDocument(element);
  if (inner) return inner.body ? [inner.body] : [];
  return element.childNodes;
}

function parentOf(node: Node): Element | null {
  const slot = (node as Element).assignedSlot;
  if (slot) return slot;
  const parent = node.parentNode;
  if (isElement(parent)) return parent;
  if (parent?.nodeType === 11) return (parent as ShadowRoot).host ?? null;
  return parent?.nodeType === 9 ? frameOf(parent as Document) : null;
}

/** The frame element that shows a document; null for the document of the tab. */
export function frameOf(document: Document): Element | null {
  try {
    return document.defaultView?.frameElement ?? null;
  } catch {
    return null;
  }
}

export function* ancestorsOf(node: Node): Generator<Element> {
  for (let parent = parentOf(node); parent; parent = parentOf(parent)) yield parent;
}

export function contains(outer: Element, inner: Node): boolean {
  if (outer === inner || outer.contains(inner)) return true;
  for (const ancestor of ancestorsOf(inner)) if (ancestor === outer) return true;
  return false;
}

export function closest(element: Element, selector: string): Element | null {
  if (element.matches(selector)) return element;
  for (const ancestor of ancestorsOf(element)) if (ancestor.matches(selector)) return ancestor;
  return null;
}

const MAX_VISITED = 100_000;

/** All elements below it in page order, without those below elements for which `enter` is false. */
export function* elementsIn(
  root: Element,
  enter: (element: Element) => boolean = () => true,
): Generator<HTMLElement> {
  const waiting: Node[] = [root];
  for (let visited = 0; waiting.length > 0 && visited < MAX_VISITED; visited++) {
    const node = waiting.pop();
    if (!node || !isElement(node)) continue;
    yield node;
    if (!enter(node)) continue;
    const children = childrenOf(node);
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child) waiting.push(child);
    }
  }
}

/** Everything that has a tree of its own: documents and shadow roots. */
export function* rootsIn(root: Document | ShadowRoot): Generator<Document | ShadowRoot> {
  yield root;
  for (const element of root.querySelectorAll('*')) {
    const inner = shadowOf(element) ?? frameDocument(element);
    if (inner) yield* rootsIn(inner);
  }
}

/** The element that has the focus, in shadow roots and frames too. */
export function activeElement(document: Document): HTMLElement | null {
  let active: Element | null = document.activeElement;
  for (;;) {
    const inner = active && (shadowOf(active)?.activeElement ?? frameDocument(active)?.activeElement);
    if (!inner) return active as HTMLElement | null;
    active = inner;
  }
}
