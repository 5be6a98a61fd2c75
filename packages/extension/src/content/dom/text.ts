/** Text of elements as a user reads it. */
import { childrenOf } from './flat-tree.ts';
import { isElement, isInput, isSelect, isText } from './kinds.ts';

const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'datalist', 'object']);
const BLANKS = /\s+/g;
const MAX_NODES = 2_000;

export const isSkipped = (element: Element): boolean => SKIPPED.has(element.localName);

/** On one line, at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const flat = text
    .slice(0, limit * 4 + 200)
    .replace(BLANKS, ' ')
    .trim();
  return flat.length <= limit
    ? flat
    : `${flat
        .slice(0, limit - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')
        .trimEnd()}…`;
}

/** Without what is not rendered; images by their descriptions. Values of fields are not text. */
export function textOf(element: Element, limit: number): string {
  const only = element.firstChild;
  if (only && only === element.lastChild && isText(only) && !element.shadowRoot)
    return oneLine(only.data, limit);
  const pieces: string[] = [];
  let left = limit * 2;
  let nodes = 0;
  const visit = (node: Node): void => {
    if (left <= 0 || nodes++ > MAX_NODES) return;
    if (isText(node)) {
      pieces.push(node.data);
      left -= node.data.trim().length;
    } else if (isElement(node)) visitElement(node);
  };
  const visitElement = (inner: HTMLElement): void => {
    if (isSkipped(inner) || inner.getAttribute('aria-hidden') === 'true') return;
    if (inner !== element && !inner.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      return;
    const described = inner === element ? '' : descriptionOf(inner);
    if (described !== '') pieces.push(' ', described, ' ');
    else if (!isInput(inner) && !isSelect(inner) && inner.localName !== 'textarea') {
      const children = childrenOf(inner);
      const apart = children.length > 1 && laysOut(inner) ? ' ' : '';
      pieces.push(isInline(inner) ? '' : ' ');
      for (let index = 0; index < children.length; index++) {
        visit(children[index] as Node);
        pieces.push(apart);
      }
      pieces.push(isInline(inner) ? '' : ' ');
    }
  };
  visitElement(element as HTMLElement);
  return oneLine(pieces.join(''), limit);
}

const INLINE = new Set(
  'a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup u var slot'.split(' '),
);

const isInline = (element: Element): boolean => INLINE.has(element.localName);

/** Its children are boxes side by side, whatever their tags. */
const laysOut = (element: Element): boolean =>
  /flex|grid/.test(element.ownerDocument.defaultView?.getComputedStyle(element).display ?? '');

function descriptionOf(element: Element): string {
  const label = element.getAttribute('aria-label')?.trim();
  if (label) return label;
  if (element.localName === 'img') return element.getAttribute('alt')?.trim() ?? '';
  if (element.localName === 'svg') return element.querySelector('title')?.textContent?.trim() ?? '';
  return '';
}

/** For comparison: case, accents and blanks do not count. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(BLANKS, ' ')
    .trim()
    .toLowerCase();
