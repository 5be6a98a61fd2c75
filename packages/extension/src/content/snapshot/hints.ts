/** Signs that elements without a role can be used: listeners that the page has reported, and rules for `:hover`. */
import { PRESSABLE } from '../../messages.ts';
import { rootsIn } from '../dom/flat-tree.ts';
import { sendToPage } from '../page-world.ts';

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

// Elements that the style sheets of a page change while the pointer is over them: hints that they can be used.

type HoverHints = {
  /** something inside of it appears: a menu, the actions of a row */
  readonly opens: ReadonlySet<Element>;
  /** it looks different itself */
  readonly reacts: ReadonlySet<Element>;
};

type Selectors = { readonly opens: readonly string[]; readonly reacts: readonly string[] };

const MAX_RULES = 5_000;
const MAX_SELECTORS = 300;
const SHOWS =
  /(?:^|[;{\s])(?:display|visibility|opacity|height|max-height|transform|clip-path|pointer-events|left|top)\s*:/;

function hoverHints(root: Document | ShadowRoot): HoverHints {
  const all = [...root.styleSheets, ...root.adoptedStyleSheets].map(selectorsOf);
  return {
    opens: matching(
      root,
      all.flatMap(({ opens }) => opens),
    ),
    reacts: matching(
      root,
      all.flatMap(({ reacts }) => reacts),
    ),
  };
}

function matching(root: Document | ShadowRoot, selectors: readonly string[]): ReadonlySet<Element> {
  const list = [...new Set(selectors)].slice(0, MAX_SELECTORS);
  // In `:is`, a selector that cannot be read does not spoil the others.
  return new Set(list.length === 0 ? [] : root.querySelectorAll(`:is(${list.join(', ')})`));
}

/** Rules of a sheet change rarely. */
const known = new WeakMap<CSSStyleSheet, { readonly rules: number; readonly selectors: Selectors }>();

function selectorsOf(sheet: CSSStyleSheet): Selectors {
  const rules = rulesOf(sheet);
  if (!rules || sheet.disabled) return { opens: [], reacts: [] };
  const before = known.get(sheet);
  if (before?.rules === rules.length) return before.selectors;
  const selectors = collected(rules);
  known.set(sheet, { rules: rules.length, selectors });
  return selectors;
}

/** Null for a sheet of another origin. */
export function rulesOf(sheet: CSSStyleSheet): CSSRuleList | null {
  try {
    return sheet.cssRules;
  } catch {
    return null;
  }
}

function collected(all: CSSRuleList): Selectors {
  const opens: string[] = [];
  const reacts: string[] = [];
  let read = 0;
  const visit = (rules: CSSRuleList): void => {
    for (const rule of rules) {
      if (read++ > MAX_RULES) return;
      const { selectorText, style, cssRules } = rule as CSSStyleRule;
      if (selectorText?.includes(':hover'))
        for (const selector of selectorText.split(/,(?![^(]*\))/)) {
          const { subject, isInner } = hovered(selector);
          if (subject === null) continue;
          if (!isInner) reacts.push(subject);
          else if (SHOWS.test(style.cssText)) opens.push(subject);
        }
      if (cssRules) visit(cssRules);
    }
  };
  visit(all);
  return { opens, reacts };
}

/** `nav li:hover > ul` is about `nav li`, and changes something inside of it. */
function hovered(selector: string): { subject: string | null; isInner: boolean } {
  const match = /^(.*?[^\s>+~(]):hover([^\s>+~]*)(.*)$/.exec(selector.trim());
  if (!match) return { subject: null, isInner: false };
  const [, before = '', after = '', inner = ''] = match;
  // Unbalanced: the pseudo-class is inside of `:not()` or `:has()`.
  if (/\([^)]*$/.test(before)) return { subject: null, isInner: false };
  const rest = after.replace(/::?[a-z-]+(?:\([^)]*\))?/g, '');
  return { subject: before + rest, isInner: /[\w.#[*]/.test(inner) };
}
