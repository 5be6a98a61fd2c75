/** The role of an element: its `role`, or the implicit one of its tag and type. */

const TAGS: Readonly<Record<string, string>> = {
  button: 'button',
  summary: 'button',
  textarea: 'textbox',
  option: 'option',
  a: 'link',
  area: 'link',
  img: 'img',
  svg: 'img',
  li: 'listitem',
  tr: 'row',
  td: 'cell',
  th: 'columnheader',
  dialog: 'dialog',
  form: 'form',
  label: 'label',
  iframe: 'iframe',
  video: 'video',
  audio: 'audio',
  progress: 'progressbar',
  meter: 'meter',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
};

/** Implicit roles of inputs by their type; others are text boxes. */
export const INPUT_ROLES: Readonly<Record<string, string>> = {
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  checkbox: 'checkbox',
  radio: 'radio',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
  file: 'file',
  color: 'color',
};

/** Roles without meaning, and roles that would hide a native control. */
const EMPTY_ROLES = new Set(['', 'none', 'presentation', 'generic', 'application']);

const own = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

export function roleOf(tag: string, attribute: (name: string) => string | undefined): string {
  const given = attribute('role')?.trim().toLowerCase().split(/\s+/, 1)[0] ?? '';
  if (given !== '' && !EMPTY_ROLES.has(given) && /^[a-z]{1,30}$/.test(given)) return given;
  if (tag === 'input') {
    if (attribute('list') !== undefined) return 'combobox';
    return own(INPUT_ROLES, (attribute('type') ?? 'text').trim().toLowerCase()) ?? 'textbox';
  }
  if (tag === 'select') {
    const many = attribute('multiple') !== undefined || Number(attribute('size') ?? 1) > 1;
    return many ? 'listbox' : 'combobox';
  }
  const editable = attribute('contenteditable');
  if (editable !== undefined && editable.toLowerCase() !== 'false') return 'textbox';
  return own(TAGS, tag) ?? 'generic';
}

const FIELDS = new Set([
  'textbox',
  'searchbox',
  'combobox',
  'spinbutton',
  'listbox',
  'slider',
  'file',
  'color',
]);
const TICKED = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);

/** Whether it has a value that users enter. */
export const isField = (role: string): boolean => FIELDS.has(role);
/** Whether it can be checked. */
export const isTicked = (role: string): boolean => TICKED.has(role);
