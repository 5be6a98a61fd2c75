/** The page as a tree of text and interactive elements, before anything is cut. */
import { isShape, looks } from '../dom/appearance.ts';
import { childrenOf, frameDocument, shadowOf } from '../dom/flat-tree.ts';
import { isElement, isSelect, isText } from '../dom/kinds.ts';
import type { Reachable } from '../dom/overlay.ts';
import { withoutCardNumbers } from '../dom/secrets.ts';
import { isSkipped, oneLine } from '../dom/text.ts';
import { clickTarget, type Point } from '../dom/visibility.ts';
import { isIndicator } from '../indicator.ts';
import { MAX_BYTES } from './budget.ts';
import { collectHints, type Hints } from './hints.ts';
import { type Interaction, interactionOf, isUsedDrawing } from './interactive.ts';
import { isConcealed, isProxied, originOf, pictureText, siteOf, viewOf } from './looks.ts';
import { escaped, markupOf, optionsMarkup, unescaped, withLabel } from './markup.ts';
import type { Branch, Leaf, Separator } from './parts.ts';
import { isFar, measureView, type Rank, rankOf, type View } from './rank.ts';
import { isBlock, wrapperOf } from './structure.ts';

export type Outline = {
  readonly root: Branch;
  readonly leaves: readonly Leaf[];
  /** elements far from view that were not even looked at */
  readonly skipped: number;
};

type Context = {
  readonly hints: Hints;
  readonly pointer: boolean;
  readonly inControl: boolean;
  readonly inClickable: boolean;
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

export function outlineOf(document: Document, reachable: Reachable): Outline {
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
