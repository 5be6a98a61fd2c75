/** What an element is: type guards by name (elements of frames are not instances of this window's classes), state and role. */
import { INPUT_ROLES } from '@parlance/copilot';

export const isInput = (element: Element): element is HTMLInputElement => element.localName === 'input';
export const isSelect = (element: Element): element is HTMLSelectElement => element.localName === 'select';
export const isTextArea = (element: Element): element is HTMLTextAreaElement =>
  element.localName === 'textarea';
export const isLink = (element: Element): element is HTMLAnchorElement =>
  (element.localName === 'a' || element.localName === 'area') && element.hasAttribute('href');
/** Where a link leads; of links in SVG as well. */
export const destinationOf = (link: Element): string =>
  URL.parse(link.getAttribute('href') ?? '', link.ownerDocument.baseURI)?.href ?? '';
export const isButton = (element: Element): element is HTMLButtonElement => element.localName === 'button';
export const isElement = (node: Node | null): node is HTMLElement => node?.nodeType === 1;
export const isText = (node: Node | null): node is Text => node?.nodeType === 3;

export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement | HTMLButtonElement;

const CONTROLS = new Set(['input', 'textarea', 'select', 'button']);
export const isControl = (element: Element): element is Control => CONTROLS.has(element.localName);

const TICKED_INPUTS = new Set(['checkbox', 'radio']);
const PRESSED_INPUTS = new Set(['button', 'submit', 'reset', 'image']);

export const isTickedInput = (element: Element): element is HTMLInputElement =>
  isInput(element) && TICKED_INPUTS.has(element.type);
export const isPressedInput = (element: Element): element is HTMLInputElement =>
  isInput(element) && PRESSED_INPUTS.has(element.type);
export const isTextInput = (element: Element): element is HTMLInputElement =>
  isInput(element) &&
  !TICKED_INPUTS.has(element.type) &&
  !PRESSED_INPUTS.has(element.type) &&
  element.type !== 'file' &&
  element.type !== 'hidden';

/** The root of an editable region; its descendants are only its content. */
export function isEditingHost(element: Element): boolean {
  const value = element.getAttribute('contenteditable');
  if (value !== null) return value.toLowerCase() !== 'false';
  return element.localName === 'body' && element.ownerDocument.designMode === 'on';
}

/** The button that submits its form. */
export const isSubmitter = (element: Element): element is HTMLButtonElement | HTMLInputElement =>
  (isButton(element) && element.type === 'submit' && element.form !== null) ||
  (isInput(element) && (element.type === 'submit' || element.type === 'image') && element.form !== null);

// Elements that cannot be operated.

export const isDisabled = (element: Element): boolean =>
  element.matches(':disabled') || element.closest('[aria-disabled="true"]') !== null;

export const isInert = (element: Element): boolean => element.closest('[inert]') !== null;

export const isReadOnly = (element: Element): boolean =>
  (element as HTMLInputElement).readOnly === true || element.getAttribute('aria-readonly') === 'true';

// The role of an element: its `role`, or the implicit one.

const TAGS: Readonly<Record<string, string>> = {
  button: 'button',
  summary: 'button',
  textarea: 'textbox',
  option: 'option',
};
const EMPTY = new Set(['', 'none', 'presentation', 'generic', 'application']);

export function roleOf(element: Element): string {
  const written = element.getAttribute('role')?.trim().toLowerCase().split(/\s+/, 1)[0] ?? '';
  if (!EMPTY.has(written) && /^[a-z]{1,30}$/.test(written)) return written;
  if (isInput(element))
    return element.hasAttribute('list') ? 'combobox' : (INPUT_ROLES[element.type] ?? 'textbox');
  if (isSelect(element)) return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
  if (isLink(element)) return 'link';
  if (isEditingHost(element)) return 'textbox';
  return TAGS[element.localName] ?? 'generic';
}

const WIDGETS = new Set(
  (
    'button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option combobox listbox textbox ' +
    'searchbox slider spinbutton treeitem'
  ).split(' '),
);

/** Roles that a user operates. */
export const isWidget = (role: string): boolean => WIDGETS.has(role);

const TICKED = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
export const isTickedRole = (role: string): boolean => TICKED.has(role);
