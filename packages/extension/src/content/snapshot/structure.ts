/** Which containers are kept in a snapshot: those that separate, group or describe their content. */

export type Wrapper = { readonly open: string; readonly close: string };

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
export function wrapperOf(element: Element): Wrapper | null {
  const role = element.getAttribute('role')?.toLowerCase() ?? '';
  if (element.localName === 'dialog') return wrapper('dialog', ' open');
  if (KEPT_ROLES.has(role)) return wrapper('div', ` role="${role}"`);
  if (KEPT_TAGS.has(element.localName)) return wrapper(element.localName);
  if (element.localName === 'pre') return wrapper('p');
  return isCard(element) ? wrapper('article') : null;
}

export const isBlock = (style: CSSStyleDeclaration): boolean => !INLINE.test(style.display);

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
