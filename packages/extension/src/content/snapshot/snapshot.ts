/** The page as it is sent to the server: HTML with numbers on interactive elements, within a size limit. */

import type { PageDialog, Snapshot } from '../../messages.ts';
import { openDialogs } from '../actions/dialogs.ts';
import { isShape, looks } from '../dom/appearance.ts';
import { ancestorsOf, childrenOf, contains, frameDocument, shadowOf } from '../dom/flat-tree.ts';
import { isElement, isInput, isSelect, isText, isTickedInput } from '../dom/kinds.ts';
import { withoutCardNumbers } from '../dom/secrets.ts';
import { isSkipped, oneLine } from '../dom/text.ts';
import { clickTarget, elementAt, isRendered, openAim, type Point } from '../dom/visibility.ts';
import { isIndicator } from '../indicator.ts';
import { collectRemoved, numberOf } from '../numbers.ts';
import { collectHints } from './hints.ts';
import { type Interaction, type InteractionContext, interactionOf, isUsedDrawing } from './interactive.ts';
import { escaped, markupOf, optionsMarkup, unescaped, withLabel } from './markup.ts';
import {
  type Branch,
  isFar,
  type Leaf,
  measureView,
  type Rank,
  rankOf,
  type Separator,
  type View,
} from './rank.ts';

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

// The page as a tree of text and interactive elements, before anything is cut.

type Outline = {
  readonly root: Branch;
  readonly leaves: readonly Leaf[];
  /** elements far from view that were not even looked at */
  readonly skipped: number;
};

type Context = InteractionContext & {
  /** inside of a drawing that reacts to clicks: its shapes are described */
  readonly inDrawing: boolean;
  /** where its document is in the tab */
  readonly origin: Point;
  readonly reachable: Reachable;
};

const MAX_TEXT_LENGTH = 2_000;
/** A drawing with more parts is not described. */
const MAX_SHAPES = 60;
const STRIDE = 16;
const STRIDE_AFTER = 100;
/** Controls whose content is only their name or value. */
const ATOMS = new Set(['button', 'input', 'select', 'textarea', 'summary', 'option']);

const branch = (open: string, close: string): Branch => ({
  kind: 'branch',
  open,
  close,
  element: null,
  markup: null,
  children: [],
});

function outlineOf(document: Document, reachable: Reachable): Outline {
  const builder = new Builder(measureView(document));
  const root = branch('', '');
  const hints = collectHints(document);
  const context = {
    hints,
    pointer: false,
    inControl: false,
    inClickable: false,
    inDrawing: false,
    origin: { x: 0, y: 0 },
    reachable,
  };
  if (document.body) builder.visitElement(document.body, root, context);
  return { root, leaves: builder.leaves, skipped: builder.skipped };
}

class Builder {
  leaves: Leaf[] = [];
  skipped = 0;
  readonly #view: View;
  /** what separates the next part */
  #before: Separator = '';
  /** sizes of what is far from view, and of what is in it */
  #far = 0;
  #inView = 0;
  #skippedInARow = 0;

  constructor(view: View) {
    this.#view = view;
  }

  visitElement(element: HTMLElement, parent: Branch, context: Context): void {
    if (isSkipped(element) || isIndicator(element)) return;
    if (element.getAttribute('aria-hidden') === 'true' || element.hasAttribute('inert')) return;
    if (this.#isTooMuch(element, context)) {
      this.skipped += 1 + element.getElementsByTagName('*').length;
      this.#skippedInARow++;
      return;
    }
    const style = viewOf(element).getComputedStyle(element);
    if (isConcealed(element, style)) {
      if (isProxied(element)) this.#addElement(element, parent, { interaction: 'control', context });
      return;
    }
    const block = isBlock(style);
    if (block) this.#before = '<br>';
    const separated = this.#place(element, parent, { style, context });
    if (block) this.#before = separated ? '' : '<br>';
  }

  /** A page can make any property of an element throw, and nest deeper than the stack: such elements are left out. */
  #visitSafely(element: HTMLElement, parent: Branch, context: Context): void {
    try {
      this.visitElement(element, parent, context);
    } catch {
      this.skipped++;
    }
  }

  /** More of its kind than can be sent was found before. What is visible on top of the page is always looked at. */
  #isTooMuch(element: Element, { origin }: Context): boolean {
    if (this.#view.seen.has(element)) return false;
    if (this.#inView > MAX_BYTES) return true;
    return this.#far > MAX_BYTES && isFar(rankOf(element, origin, this.#view));
  }

  /** Whether its tags separate it from what follows. */
  #place(
    element: HTMLElement,
    parent: Branch,
    { style, context }: { style: CSSStyleDeclaration; context: Context },
  ): boolean {
    const shown = style.visibility === 'visible';
    const interaction = shown ? interactionOf(element, style, context) : null;
    const usable = interaction !== null && context.reachable(element);
    if (interaction === null || !usable) {
      const wrapper = wrapperOf(element);
      const target = wrapper ? branch(wrapper.open, wrapper.close) : parent;
      if (wrapper) {
        parent.children.push(target);
        this.#before = '';
      }
      const inner = { ...context, pointer: style.cursor === 'pointer' };
      this.#visitChildren(element, target, { context: inner, shown });
      return wrapper !== null;
    }
    if (interaction !== 'control' && !this.#isOnPage(element, context)) return false;
    const atom = ATOMS.has(element.localName) || element.isContentEditable;
    if (atom || (!element.firstElementChild && !shadowOf(element)))
      this.#addElement(element, parent, { interaction, context });
    else this.#addContainer(element, parent, { interaction, context });
    return false;
  }

  /** An interactive element that may contain others: then both can be addressed. */
  #addContainer(
    element: HTMLElement,
    parent: Branch,
    { interaction, context }: { interaction: Interaction; context: Context },
  ): void {
    const before = this.leaves.length;
    const separator = this.#before;
    const draft = branch('', '');
    const drawing = isUsedDrawing(element, context.hints) && element.childElementCount <= MAX_SHAPES;
    const inner = {
      ...context,
      inDrawing: drawing,
      pointer: true,
      inControl: interaction === 'control',
      inClickable: interaction === 'clickable' || context.inClickable,
    };
    this.#visitChildren(element, draft, { context: inner, shown: true });
    const nested = this.leaves.slice(before).some((leaf) => leaf.element !== null);
    if (nested && interaction === 'opener' && ownName(draft) === '') {
      parent.children.push(draft);
      return;
    }
    if (nested || drawing || interaction === 'drop') {
      const own = markupOf(element, interaction);
      const markup = withLabel(
        own,
        drawing || interaction === 'drop' ? own.name : ownName(draft) || own.name,
      );
      // A row or card that can be clicked still groups what is in it.
      const { open, close } = wrapperOf(element) ?? draft;
      parent.children.push({ ...draft, open, close: close + markup.close, element, markup });
      return;
    }
    this.leaves.length = before;
    this.#before = separator;
    this.#addElement(element, parent, { interaction, context });
  }

  #isOnPage(element: Element, { origin }: Context): boolean {
    const target = clickTarget(element);
    return target !== null && rankOf(target, origin, this.#view) !== null;
  }

  #visitChildren(
    element: HTMLElement,
    parent: Branch,
    { context, shown }: { context: Context; shown: boolean },
  ): void {
    const frame = frameDocument(element);
    if (element.localName === 'iframe' && !frame) {
      this.#addText(
        `(frame of another site: ${siteOf(element)})`,
        parent,
        rankOf(element, context.origin, this.#view),
      );
      return;
    }
    const inner = frame ? { ...context, origin: originOf(element, context.origin) } : context;
    const closed = element.localName === 'details' && !(element as HTMLDetailsElement).open;
    const described = !shown
      ? ''
      : context.inDrawing && isShape(element)
        ? looks(element)
        : pictureText(element);
    if (described !== '' && context.inDrawing) this.#before = '<br>';
    if (described !== '') this.#addText(described, parent, rankOf(element, context.origin, this.#view));
    const children = childrenOf(element);
    let rank: Rank | null = null;
    for (let index = 0; index < children.length; index++) {
      index += this.#stride(children, index, inner);
      const child = children[index];
      if (!child) break;
      if (isElement(child)) {
        if (!closed || child.localName === 'summary') this.#visitSafely(child, parent, inner);
      } else if (shown && !closed && isText(child)) {
        if (/^\s/.test(child.data)) this.#before ||= ' ';
        if (!/\S/.test(child.data)) continue;
        rank ??= rankOf(element, inner.origin, this.#view);
        this.#addText(child.data, parent, rank);
        if (/\s$/.test(child.data)) this.#before ||= ' ';
      }
    }
  }

  /** How many siblings can be passed over: after many that were too much, only every sixteenth is looked at. */
  #stride(children: ArrayLike<Node>, start: number, context: Context): number {
    let index = start;
    while (this.#skippedInARow > STRIDE_AFTER) {
      const probe = children[index + STRIDE];
      if (!probe || !isElement(probe) || !this.#isTooMuch(probe, context)) break;
      index += STRIDE;
      this.skipped += STRIDE;
    }
    return index - start;
  }

  #addText(text: string, parent: Branch, rank: Rank | null): void {
    if (rank === null) return;
    const html = escaped(withoutCardNumbers(oneLine(text, MAX_TEXT_LENGTH)));
    this.#add({ kind: 'leaf', html, element: null, markup: null, rank, before: this.#before }, parent);
  }

  #addElement(
    element: HTMLElement,
    parent: Branch,
    { interaction, context }: { interaction: Interaction; context: Context },
  ): void {
    const target = clickTarget(element);
    if (!target || !context.reachable(element)) return;
    const rank = rankOf(target, context.origin, this.#view);
    if (rank === null) return;
    const markup = markupOf(element, interaction);
    const html = isSelect(element) ? optionsMarkup(element) : markup.content;
    this.#add({ kind: 'leaf', html, element, markup, rank, before: this.#before }, parent);
    if (context.inDrawing && element.localName === 'text') this.#addText(`(${looks(element)})`, parent, rank);
  }

  #add(leaf: Leaf, parent: Branch): void {
    this.leaves.push(leaf);
    const size = leaf.html.length + (leaf.markup?.tail.length ?? 0) + 20;
    if (isFar(leaf.rank)) this.#far += size;
    else if (leaf.rank === 0) this.#inView += size;
    parent.children.push(leaf);
    this.#skippedInARow = 0;
    this.#before = '';
  }
}

/** The text of a container without that of the controls in it. */
const ownName = (draft: Branch): string => oneLine(unescaped(ownTexts(draft).join(' ')), 150);

function ownTexts({ children }: Branch): string[] {
  return children.flatMap((child) => {
    if (child.kind === 'branch') return child.element ? [] : ownTexts(child);
    return child.element ? [] : [child.html];
  });
}

// How an element looks: hidden, where a frame is, what a picture shows.

const viewOf = (element: Element): Window & typeof globalThis => element.ownerDocument.defaultView ?? window;

/** Not rendered, transparent, or collapsed to nothing. */
function isConcealed(element: HTMLElement, style: CSSStyleDeclaration): boolean {
  if (style.display === 'none' || style.opacity === '0' || style.contentVisibility === 'hidden') return true;
  if (style.overflowX === 'visible' && style.clipPath === 'none' && style.clip === 'auto') return false;
  if (style.display === 'inline' || style.display === 'contents') return false;
  const { width, height } = element.getBoundingClientRect();
  return width <= 1 || height <= 1;
}

/** A hidden field that its visible label stands for, or a part of a picture. */
const isProxied = (element: Element): boolean =>
  (isTickedInput(element) || (isInput(element) && element.type === 'file') || element.localName === 'area') &&
  clickTarget(element) !== null;

const siteOf = (frame: Element): string =>
  URL.parse(frame.getAttribute('src') ?? '', frame.ownerDocument.baseURI)?.origin ?? 'unknown';

function originOf(frame: Element, { x, y }: Point): Point {
  const { left, top } = frame.getBoundingClientRect();
  return { x: x + left + frame.clientLeft, y: y + top + frame.clientTop };
}

function pictureText(element: Element): string {
  if (element.localName === 'img') return element.getAttribute('alt')?.trim() ?? '';
  return element.localName === 'svg' ? (element.getAttribute('aria-label')?.trim() ?? '') : '';
}

/** Which containers are kept in a snapshot: those that separate, group or describe their content. */

type Wrapper = { readonly open: string; readonly close: string };

const KEPT_TAGS = new Set(
  'h1 h2 h3 h4 h5 h6 p li dt dd tr td th fieldset legend article caption figcaption'.split(' '),
);
const KEPT_ROLES = new Set(
  'row listitem article radiogroup dialog alertdialog alert status heading'.split(' '),
);
const INLINE = /^(?:inline|contents|none|ruby)/;

const wrapper = (tag: string, attributes = ''): Wrapper => ({
  open: `<${tag}${attributes}>`,
  close: `</${tag}>`,
});

/** Null if its content stands for itself. */
function wrapperOf(element: Element): Wrapper | null {
  const role = element.getAttribute('role')?.toLowerCase() ?? '';
  if (element.localName === 'dialog') return wrapper('dialog', ' open');
  if (KEPT_ROLES.has(role)) return wrapper('div', ` role="${role}"`);
  if (KEPT_TAGS.has(element.localName)) return wrapper(element.localName);
  if (element.localName === 'pre') return wrapper('p');
  return isCard(element) ? wrapper('article') : null;
}

const isBlock = (style: CSSStyleDeclaration): boolean => !INLINE.test(style.display);

const CARD_TAGS = new Set(['div', 'section', 'a', 'figure']);
const MAX_ELEMENTS = 40;

/** One of several boxes of the same kind, such as products or results: they give their buttons a context. */
function isCard(element: Element): boolean {
  if (!CARD_TAGS.has(element.localName) || element.childElementCount === 0) return false;
  const { className } = element;
  if (typeof className !== 'string' || className === '') return false;
  if (!isSame(element.previousElementSibling, element) && !isSame(element.nextElementSibling, element))
    return false;
  return element.childElementCount > 1 && element.getElementsByTagName('*').length <= MAX_ELEMENTS;
}

const isSame = (sibling: Element | null, element: Element): boolean =>
  sibling?.localName === element.localName && sibling.className === element.className;

// Modal dialogs and overlays: while one is open, only its own elements can be used.

/** Whether an element can be used; everything can, if nothing covers the page. */
type Reachable = (element: Element) => boolean;

function reachableIn(document: Document): Reachable {
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

// Chooses what is sent of a large page: what is in view first, then what is near, then the rest in page order.

/** Bytes of JSON of the whole markup; a request stays below 40 KB with it. */
const MAX_BYTES = 34_000;
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

type Choice = { readonly chosen: ReadonlySet<Leaf>; readonly left: number };

function choose(leaves: readonly Leaf[], max = MAX_BYTES): Choice {
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
function encodedLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 34 || code === 92 || code < 32) length++;
    else if (code > 127) length += code < 0x800 ? 1 : 2;
  }
  return length;
}
