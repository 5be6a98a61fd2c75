/** The page as it is sent to the server: HTML with numbers on interactive elements, within a size limit. */
import type { PageDialog, Snapshot } from '../../messages.ts';
import { openDialogs } from '../actions/dialogs.ts';
import { reachableIn } from '../dom/overlay.ts';
import { oneLine } from '../dom/text.ts';
import { collectRemoved, numberOf } from '../numbers.ts';
import { choose } from './budget.ts';
import { escaped } from './markup.ts';
import { outlineOf } from './outline.ts';
import type { Branch, Leaf } from './parts.ts';

export function takeSnapshot(): Snapshot {
  const { root, leaves, skipped } = outlineOf(document, reachableIn(document));
  const { chosen, left: cut } = choose(leaves);
  const left = cut + skipped;
  collectRemoved();
  const body = serialized(root, chosen);
  const more =
    left === 0
      ? ''
      : `<p>(${left} more parts of the page are not listed here: scroll or use findText to reach them)</p>`;
  const { scrollX, scrollY, innerWidth, innerHeight } = window;
  return {
    url: location.href,
    title: oneLine(document.title, 300),
    dom: `<body>${openDialogs().map(dialogHtml).join('')}${body}${more}</body>`,
    elements: leaves.filter((leaf) => leaf.element !== null && chosen.has(leaf)).length,
    truncated: left > 0,
    viewport: { width: innerWidth, height: innerHeight },
    scrollPosition: {
      x: Math.round(scrollX),
      y: Math.round(scrollY),
      height: document.scrollingElement?.scrollHeight ?? innerHeight,
    },
  };
}

/** A dialog of the browser is part of what a user sees. */
const dialogHtml = ({ type, message }: PageDialog): string =>
  `<dialog open>${type} dialog: ${escaped(oneLine(message, 500))} (${ANSWERS[type]})</dialog>`;

const ANSWERS: Readonly<Record<PageDialog['type'], string>> = {
  alert: 'close it with acceptDialog()',
  confirm: 'answer with acceptDialog() or dismissDialog()',
  prompt: 'answer with type("text") and acceptDialog(), or with dismissDialog()',
};

function serialized(part: Branch | Leaf, chosen: ReadonlySet<Leaf>): string {
  if (part.kind === 'leaf') return chosen.has(part) ? leafHtml(part) : '';
  let inner = '';
  // The number of a container comes before those of its content.
  const first = part.element && part.markup && holdsChosen(part, chosen) ? numberOf(part.element) : null;
  for (const child of part.children) inner += serialized(child, chosen);
  if (first !== null && part.markup)
    return `${part.markup.head}${first}${part.markup.tail}${part.open}${inner}${part.close}`;
  if (inner === '') return '';
  return `${part.open}${inner}${part.close}`;
}

const holdsChosen = ({ children }: Branch, chosen: ReadonlySet<Leaf>): boolean =>
  children.length === 0 ||
  children.some((child) => (child.kind === 'leaf' ? chosen.has(child) : holdsChosen(child, chosen)));

function leafHtml({ element, markup, html, before }: Leaf): string {
  if (!element || !markup) return `${before}${html}`;
  return `${before}${markup.head}${numberOf(element)}${markup.tail}${html}${markup.close}`;
}
