/**
 * Menus that open by style alone (`li:hover > ul`). Events cannot set `:hover`, so its rules are repeated for an attribute that
 * marks what is under the pointer.
 */
import { ancestorsOf } from '../dom/flat-tree.ts';
import { HOVER_MARK as MARK } from '../hover-mark.ts';
import { rulesOf } from '../snapshot/hover-hints.ts';

const MAX_RULES = 5_000;

export function showHoverStyles(target: Element): void {
  const root = target.ownerDocument;
  clearHoverStyles(root);
  const rules = hoverRules(root);
  if (rules.length === 0) return;
  for (const each of [target, ...ancestorsOf(target)]) each.setAttribute(MARK, '');
  const style = root.createElement('style');
  style.setAttribute(MARK, '');
  style.textContent = rules.join('\n');
  root.head.append(style);
}

/** The pointer is elsewhere now: a menu that it left closes. */
export function moveHoverStyles(target: Element): void {
  if (target.ownerDocument.querySelector(`style[${MARK}]`)) showHoverStyles(target);
}

function clearHoverStyles(root: Document): void {
  for (const style of root.querySelectorAll(`style[${MARK}]`)) style.remove();
  for (const marked of root.querySelectorAll(`[${MARK}]`)) marked.removeAttribute(MARK);
}

/** Only rules that show something hidden: colours do not matter. */
const SHOWS =
  /(?:^|[;{\s])(?:display|visibility|opacity|height|max-height|transform|clip|clip-path|pointer-events|left|right|top)\s*:/;

function hoverRules(root: Document): string[] {
  const found: string[] = [];
  let read = 0;
  const visit = (rules: CSSRuleList): void => {
    for (const rule of rules) {
      if (read++ > MAX_RULES) return;
      const { selectorText, style, cssRules, media } = rule as CSSStyleRule & { media?: MediaList };
      if (selectorText?.includes(':hover') && SHOWS.test(style.cssText))
        found.push(`${selectorText.replaceAll(':hover', `[${MARK}]`)} { ${style.cssText} }`);
      if (cssRules && !(media && !matchMedia(media.mediaText).matches)) visit(cssRules);
    }
  };
  for (const sheet of root.styleSheets) {
    const rules = rulesOf(sheet);
    if (rules) visit(rules);
  }
  return found;
}
