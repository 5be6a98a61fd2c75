/**
 * Pages that a client has already reduced to objects: arrays, trees, or records by number. Each field is read under any of the
 * names that clients use; unreadable ones are skipped.
 */
import { line } from './clean.ts';
import {
  type ElementState,
  HIDDEN_VALUE,
  MAX_NAME_LENGTH,
  numberedId,
  OPEN_SELECT,
  type PageElement,
} from './page.ts';
import { isTicked, roleOf } from './roles.ts';
import { optionsFrom, readSelect } from './select-options.ts';

type Fields = Readonly<Record<string, unknown>>;

export type ParsedNodes = { readonly elements: readonly PageElement[]; readonly text: string };

const MAX_NODES = 100_000;
const CHILDREN = ['children', 'nodes', 'childNodes', 'elements', 'items', 'tree', 'root', 'c'];
const SHORT_ROLES: Readonly<Record<string, string>> = {
  btn: 'button',
  inp: 'textbox',
  input: 'textbox',
  text: 'textbox',
  txt: 'textbox',
  lnk: 'link',
  a: 'link',
  chk: 'checkbox',
  rad: 'radio',
  sel: 'combobox',
  dropdown: 'combobox',
  opt: 'option',
};

export function readNodes(source: unknown): ParsedNodes {
  const elements: PageElement[] = [];
  const taken = new Set<number>();
  const lines: string[] = [];
  const waiting: { node: unknown; key?: string }[] = [{ node: source }];
  for (let read = 0; waiting.length > 0 && read < MAX_NODES; read++) {
    const { node, key } = waiting.pop() ?? {};
    if (typeof node === 'string') lines.push(node);
    if (Array.isArray(node))
      pushAll(
        waiting,
        node.map((each: unknown) => ({ node: each })),
      );
    if (!isFields(node)) continue;
    const id = idOf(node, key);
    const shown = !isHidden(node);
    if (id !== null && !taken.has(id)) {
      taken.add(id);
      if (shown) elements.push(elementOf(node, id));
    }
    if (shown) lines.push(textField(node, ['text', 'name', 'label', 'content', 'n']) ?? '');
    // The content of a select is its options.
    if (shown && !readSelect(node, kindOf(node))?.native) pushAll(waiting, childrenOf(node, id));
  }
  return { elements, text: lines.join('\n') };
}

/** Last in, first out: pushed in reverse, so that the first child is read first. */
function pushAll<Item>(stack: Item[], more: readonly Item[]): void {
  for (let index = more.length - 1; index >= 0; index--) {
    const item = more[index];
    if (item !== undefined) stack.push(item);
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function childrenOf(node: Fields, id: number | null): { node: unknown; key?: string }[] {
  const named = CHILDREN.filter((name) => typeof node[name] === 'object' && node[name] !== null);
  if (named.length > 0) return named.map((name) => ({ node: node[name] }));
  if (id !== null || 'role' in node || 'tag' in node || 'name' in node) return [];
  // A record by number: { "12": { role: "button" } }.
  return Object.entries(node).flatMap(([key, each]) => (isFields(each) ? [{ node: each, key }] : []));
}

function idOf(node: Fields, key: string | undefined): number | null {
  for (const value of [node.id, node.elementId, node.index, node.i, attributesOf(node).id, key]) {
    const id =
      typeof value === 'number'
        ? numberedId(String(value))
        : typeof value === 'string'
          ? numberedId(value)
          : null;
    if (id !== null) return id;
  }
  return null;
}

const isHidden = (node: Fields): boolean => {
  const attributes = attributesOf(node);
  return (
    [node.hidden, attributes.hidden, node['aria-hidden'], attributes['aria-hidden']].some(isOn) ||
    [node.visible, node.isVisible].some((value) => value === false)
  );
};

function attributesOf(node: Fields): Fields {
  const given = node.attributes ?? node.attrs ?? node.props;
  if (isFields(given)) return given;
  if (!Array.isArray(given)) return {};
  return Object.fromEntries(
    given.flatMap((pair: unknown): [string, unknown][] => {
      if (Array.isArray(pair) && typeof pair[0] === 'string') return [[pair[0], pair[1]]];
      return isFields(pair) && typeof pair.name === 'string' ? [[pair.name, pair.value]] : [];
    }),
  );
}

/** The first of these fields with text, of the node itself or else of its attributes. */
function textField(node: Fields, names: readonly string[]): string | undefined {
  const attributes = attributesOf(node);
  for (const fields of [node, attributes]) {
    for (const name of names) {
      const value = fields[name];
      if (typeof value === 'string' && value.trim() !== '') return value;
      if (typeof value === 'number') return String(value);
    }
  }
  return undefined;
}

const NAMES = [
  'name',
  'label',
  'aria-label',
  'ariaLabel',
  'text',
  'n',
  'placeholder',
  'title',
  'alt',
  'content',
];

function elementOf(node: Fields, id: number): PageElement {
  const attributes = attributesOf(node);
  const type = textField({ attributes: { ...attributes, inputType: node.inputType } }, [
    'type',
    'inputType',
  ])?.toLowerCase();
  const role = roleFrom(node, type);
  const name = line(textField(node, NAMES) ?? '', MAX_NAME_LENGTH);
  const label = line(textField(node, ['nearbyLabel', 'nearby', 'context', 'description']) ?? '', 80);
  const value = node.value ?? node.v ?? attributes.value;
  const text =
    typeof value === 'string' || typeof value === 'number'
      ? String(value).slice(0, 500).toWellFormed()
      : undefined;
  const list = readSelect(node, kindOf(node));
  const select = list?.native || node.expanded === undefined ? list : null;
  const options = select?.options ?? (Array.isArray(node.options) ? optionsFrom(node.options) : undefined);
  const href = textField(node, ['href', 'url']);
  return {
    id,
    role,
    name,
    ...(type !== undefined && { type: line(type, 30) }),
    ...(select && !select.complete && OPEN_SELECT),
    ...(label !== '' && { label }),
    ...(text !== undefined &&
      !select?.listedInValue && { value: type === 'password' && text !== '' ? HIDDEN_VALUE : text }),
    state: stateOf(node, role),
    ...(options && (options.length > 0 || select?.complete !== false) && { options }),
    ...(href !== undefined && { href: line(href, 500) }),
  };
}

/** The client's own name for its kind. */
const kindOf = (node: Fields): string =>
  (textField(node, ['role', 'r', 'tag', 'tagName', 'type']) ?? '').trim().toLowerCase();

function roleFrom(node: Fields, type: string | undefined): string {
  const word = kindOf(node);
  const known = roleOf(word, (name) => {
    if (name === 'type') return type;
    const value = attributesOf(node)[name];
    return name !== 'role' && typeof value === 'string' ? value : undefined;
  });
  if (known !== 'generic' && word !== 'input') return known;
  if (word === 'input' && type !== undefined) return known;
  if (Object.hasOwn(SHORT_ROLES, word)) return SHORT_ROLES[word] ?? word;
  return /^[a-z]{2,30}$/.test(word) && word !== 'div' && word !== 'span' ? word : 'generic';
}

const isOn = (value: unknown): boolean => value === true || value === 'true' || value === '';

function stateOf(node: Fields, role: string): ElementState {
  const attributes = attributesOf(node);
  const inner = isFields(node.state) ? node.state : isFields(node.states) ? node.states : {};
  const words = [node.state, node.states, node.s]
    .flat()
    .filter((each) => typeof each === 'string')
    .join(' ')
    .split(/[\s,]+/);
  const flag = (name: string): boolean | undefined => {
    if (words.includes(name)) return true;
    for (const value of [
      inner[name],
      node[name],
      attributes[name],
      node[`aria-${name}`],
      attributes[`aria-${name}`],
    ]) {
      if (isOn(value) || value === name) return true;
      if (value === false || value === 'false') return false;
    }
    return undefined;
  };
  const checked = isTicked(role) ? (flag('checked') ?? false) : undefined;
  const [expanded, selected, pressed] = [flag('expanded'), flag('selected'), flag('pressed')];
  return {
    ...(checked !== undefined && { checked }),
    ...((flag('disabled') || flag('enabled') === false) && { disabled: true as const }),
    ...(expanded !== undefined && { expanded }),
    ...(selected !== undefined && { selected }),
    ...(pressed !== undefined && { pressed }),
    ...(flag('required') && { required: true as const }),
    ...(flag('readonly') && { readonly: true as const }),
  };
}
