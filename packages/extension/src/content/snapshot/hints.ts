/** Signs that elements without a role can be used: listeners that the page has reported, and rules for `:hover`. */
import { PRESSABLE } from '../../page-channel.ts';
import { rootsIn } from '../dom/flat-tree.ts';
import { sendToPage } from '../page-world.ts';
import { type HoverHints, hoverHints } from './hover-hints.ts';

export type Hints = HoverHints & { readonly pressable: Pick<WeakSet<Element>, 'has'> };

/** Elements with listeners; each is reported once. */
const pressable = new WeakSet<Element>();

function note(event: Event): void {
  const [element] = event.composedPath();
  if (element) pressable.add(element as Element);
}

/** Collected once per snapshot. */
export function collectHints(document: Document): Hints {
  const roots = [...rootsIn(document)];
  for (const root of roots) root.addEventListener(PRESSABLE, note, true);
  for (const root of roots) if (root.nodeType === 9) sendToPage({ type: 'pressable' }, root);
  for (const root of roots) root.removeEventListener(PRESSABLE, note, true);
  const hovers = roots.map(hoverHints);
  return {
    pressable,
    opens: new Set(hovers.flatMap(({ opens }) => [...opens])),
    reacts: new Set(hovers.flatMap(({ reacts }) => [...reacts])),
  };
}
