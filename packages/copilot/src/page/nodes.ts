/**
 * Pages that a client has already reduced to objects: arrays, trees, or records by number. Each field is read under any of the
 * names that clients use; unreadable ones are skipped.
 */
import { isObject } from '@parlance/protocol';
import { line } from './clean.ts';
import {
  type ElementOption,
  type ElementState,
  elementState,
  HIDDEN_VALUE,
  MAX_NAME_LENGTH,
  MAX_OPTIONS,
  numberedId,
  OPEN_SELECT,
  type PageElement,
} from './page.ts';
import { isTicked, roleOf } from './roles.ts';

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
    if (!isObject(node)) continue;
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

function childrenOf(node: Fields, id: number | null): { node: unknown; key?: string }[] {
  const named = CHILDREN.filter((name) => typeof node[name] === 'object' && node[name] !== null);
  if (named.length > 0) return named.map((name) => ({ node: node[name] }));
  if (id !== null || 'role' in node || 'tag' in node || 'name' in node) return [];
  // A record by number: { "12": { role: "button" } }.
  return Object.entries(node).flatMap(([key, each]) => (isObject(each) ? [{ node: each, key }] : []));
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
  if (isObject(given)) return given;
  if (!Array.isArray(given)) return {};
  return Object.fromEntries(
    given.flatMap((pair: unknown): [string, unknown][] => {
      if (Array.isArray(pair) && typeof pair[0] === 'string') return [[pair[0], pair[1]]];
      return isObject(pair) && typeof pair.name === 'string' ? [[pair.name, pair.value]] : [];
    }),
  );
}

/** The first of these fields with text, of the node itself or else of its attributes. */
function textField(node: Fields, names: readonly string[]): string | undefined {
  return firstText(node, names) ?? firstText(attributesOf(node), names);
}

function firstText(fields: Fields, names: readonly string[]): string | undefined {
  const value = names
    .map((name) => fields[name])
    .find((each) => typeof each === 'number' || (typeof each === 'string' && each.trim() !== ''));
  return value === undefined ? undefined : String(value);
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
  const inner = isObject(node.state) ? node.state : isObject(node.states) ? node.states : {};
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
  return elementState(
    (name) => (name === 'disabled' ? flag(name) || flag('enabled') === false : flag(name)),
    isTicked(role) ? (flag('checked') ?? false) : undefined,
  );
}

// Lists: their options are in `options`, among the children, in the value or in the text.

type ParsedSelect = {
  /** certainly a native select: its children are not elements of their own */
  readonly native: boolean;
  readonly options: readonly ElementOption[];
  /** whether the options are complete */
  readonly complete: boolean;
  /** the value is the list of options, not the chosen one */
  readonly listedInValue: boolean;
};

const NATIVE = new Set(['select', 'sel', 'dropdown', 'select-one', 'select-multiple']);
const OPTION = new Set(['option', 'opt', 'menuitem', 'listitem']);
const CONTENT = ['children', 'nodes', 'childNodes', 'items', 'c'];

const contentOf = (node: Fields): unknown[] =>
  CONTENT.flatMap((name) => (Array.isArray(node[name]) ? (node[name] as unknown[]) : []));

/** Null if the node is not a list of options. `word` is the client's name for its kind. */
function readSelect(node: Fields, word: string): ParsedSelect | null {
  const native = NATIVE.has(word);
  if (!native && word !== 'combobox') return null;
  const found = (options: readonly ElementOption[], more: Partial<ParsedSelect> = {}): ParsedSelect => ({
    native,
    options: options.slice(0, MAX_OPTIONS),
    complete: true,
    listedInValue: false,
    ...more,
  });
  if (Array.isArray(node.options)) return found(optionsFrom(node.options));
  const among = optionsAmong(contentOf(node), native);
  if (among.length > 0) return found(among);
  const value = node.v ?? node.value;
  if (Array.isArray(value)) return found(optionsFrom(value), { listedInValue: true });
  const listed = piecesOf(value, native);
  if (listed.length > 1) return found(optionsFrom(listed), { complete: false, listedInValue: true });
  const texts = piecesOf(node.text ?? node.content ?? node.textContent ?? node.innerText, native);
  if (texts.length > 1) return found(optionsFrom(texts), { complete: false });
  return native || (showsChoice(node) && !isTextField(node)) ? found([], { complete: false }) : null;
}

/** It shows a chosen value, or text other than its name: it has options, though unknown ones. */
function showsChoice(node: Fields): boolean {
  const name = firstText(node, ['name', 'n', 'label', 'aria-label', 'ariaLabel']);
  const shown = [
    firstText(node, ['v', 'value']),
    firstText(node, ['text', 'content', 'textContent', 'innerText']),
  ];
  return name !== undefined && shown.some((words) => words !== undefined && words !== name);
}

const TEXT_FIELD = ['placeholder', 'inputType', 'autocomplete', 'editable', 'contenteditable', 'list'];

/** A combobox that is an input: its value is typed text. */
function isTextField(node: Fields): boolean {
  const given = node.attributes ?? node.attrs ?? node.props;
  const attributes = typeof given === 'object' && given !== null ? (given as Fields) : {};
  const tags = [node.tag, node.tagName, node.type].map((tag) => String(tag).toLowerCase());
  return (
    tags.some((tag) => tag === 'input' || tag === 'text' || tag === 'search') ||
    [...TEXT_FIELD, 'type'].some((name) => attributes[name] !== undefined) ||
    TEXT_FIELD.some((name) => node[name] !== undefined)
  );
}

function optionsAmong(nodes: readonly unknown[], native: boolean): ElementOption[] {
  return nodes.flatMap((node): ElementOption[] => {
    if (typeof node === 'string') return native ? optionsFrom([node]) : [];
    if (!isObject(node)) return [];
    const word = String(node.role ?? node.r ?? node.tag ?? node.tagName ?? node.type ?? '').toLowerCase();
    const inner = contentOf(node);
    if (OPTION.has(word) || (native && inner.length === 0)) return optionsFrom([node]);
    return optionsAmong(inner, native);
  });
}

function optionsFrom(given: readonly unknown[]): ElementOption[] {
  return given.slice(0, MAX_OPTIONS).flatMap((option): ElementOption[] => {
    if (typeof option === 'string' || typeof option === 'number')
      return [{ value: String(option).slice(0, 200).toWellFormed(), text: line(String(option), 200) }];
    if (!isObject(option)) return [];
    const text = line(firstText(option, ['text', 'label', 'name', 'n', 'content', 'value', 'v']) ?? '', 200);
    const value = (firstText(option, ['value', 'v']) ?? text).slice(0, 200).toWellFormed();
    if (text === '' && value === '') return [];
    const states = [option.s, option.state].flat().join(' ');
    return [
      {
        value,
        text,
        ...((isOn(option.selected) || /\bselected\b/.test(states)) && { selected: true as const }),
        ...((isOn(option.disabled) || /\bdisabled\b/.test(states)) && { disabled: true as const }),
      },
    ];
  });
}

/** A text as a list of options, if it is one. Commas also occur inside names, so they only separate the options of a select. */
function piecesOf(text: unknown, native: boolean): string[] {
  if (typeof text !== 'string') return [];
  const mark = [/[\n|]/, ...(native ? [/;/, /,/, / \/ |\t| {2,}/] : [])].find((each) =>
    each.test(text.trim()),
  );
  if (!mark) return [];
  return text
    .split(mark)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');
}
