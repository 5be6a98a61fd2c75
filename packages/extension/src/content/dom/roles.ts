/** The role of an element: its `role`, or the implicit one. */
import { INPUT_ROLES } from '@parlance/copilot';
import { isEditingHost, isInput, isLink, isSelect } from './kinds.ts';

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
