/** Modal dialogs and overlays: while one is open, only its own elements can be used. */
import { ancestorsOf, contains } from './flat-tree.ts';
import { elementAt, isRendered, openAim } from './visibility.ts';

/** Whether an element can be used; everything can, if nothing covers the page. */
export type Reachable = (element: Element) => boolean;

export function reachableIn(document: Document): Reachable {
  const modal = [...document.querySelectorAll(':modal')].at(-1) ?? ariaModal(document);
  if (modal) return (element) => contains(modal, element);
  const layers = coveringLayers(document);
  if (layers.length === 0) return () => true;
  return (element) => layers.some((layer) => contains(layer, element)) || openAim(element) !== null;
}

function ariaModal(document: Document): Element | undefined {
  return [...document.querySelectorAll('[aria-modal="true"]')]
    .filter((each) => isRendered(each) && each.getBoundingClientRect().height > 10)
    .at(-1);
}

const SPOTS = [
  [0.02, 0.02],
  [0.98, 0.02],
  [0.5, 0.5],
  [0.02, 0.98],
  [0.98, 0.98],
  [0.25, 0.5],
  [0.75, 0.5],
] as const;

/**
 * The outermost fixed layers that are hit when nothing but fixed layers can be hit and one of them fills the viewport; none if
 * some of the page itself can be reached.
 */
function coveringLayers(document: Document): Element[] {
  const { innerWidth: width, innerHeight: height } = document.defaultView ?? window;
  const layers = new Set<Element>();
  for (const [fx, fy] of SPOTS) {
    const hit = elementAt({ x: width * fx, y: height * fy }, document);
    const layer = hit && fixedLayer(hit);
    if (!layer) return [];
    layers.add(layer);
  }
  const list = [...layers];
  const fills = list.some((layer) => {
    const box = layer.getBoundingClientRect();
    return box.width >= width * 0.95 && box.height >= height * 0.95;
  });
  return fills ? list : [];
}

function fixedLayer(element: Element): Element | null {
  let layer: Element | null = isFixed(element) ? element : null;
  for (const ancestor of ancestorsOf(element)) if (isFixed(ancestor)) layer = ancestor;
  return layer;
}

const isFixed = (element: Element): boolean => getComputedStyle(element).position === 'fixed';
