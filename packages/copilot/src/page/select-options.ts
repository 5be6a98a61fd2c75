/** Lists in a tree: their options are in `options`, among the children, in the value or in the text. */
import { line } from './clean.ts';
import { type ElementOption, MAX_OPTIONS } from './page.ts';

type Fields = Readonly<Record<string, unknown>>;

export type ParsedSelect = {
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
const CHILDREN = ['children', 'nodes', 'childNodes', 'items', 'c'];

/** Null if the node is not a list of options. `word` is the client's name for its kind. */
export function readSelect(node: Fields, word: string): ParsedSelect | null {
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
  const children = CHILDREN.flatMap((name) => (Array.isArray(node[name]) ? (node[name] as unknown[]) : []));
  const among = optionsAmong(children, native);
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
  const name = textField(node, ['name', 'n', 'label', 'aria-label', 'ariaLabel']);
  const shown = [
    textField(node, ['v', 'value']),
    textField(node, ['text', 'content', 'textContent', 'innerText']),
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
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return [];
    const fields = node as Fields;
    const word = String(
      fields.role ?? fields.r ?? fields.tag ?? fields.tagName ?? fields.type ?? '',
    ).toLowerCase();
    const inner = CHILDREN.flatMap((name) =>
      Array.isArray(fields[name]) ? (fields[name] as unknown[]) : [],
    );
    if (OPTION.has(word) || (native && inner.length === 0)) return optionsFrom([fields]);
    return optionsAmong(inner, native);
  });
}

export function optionsFrom(given: readonly unknown[]): ElementOption[] {
  return given.slice(0, MAX_OPTIONS).flatMap((option): ElementOption[] => {
    if (typeof option === 'string' || typeof option === 'number')
      return [{ value: String(option).slice(0, 200).toWellFormed(), text: line(String(option), 200) }];
    if (typeof option !== 'object' || option === null || Array.isArray(option)) return [];
    const fields = option as Fields;
    const text = line(textField(fields, ['text', 'label', 'name', 'n', 'content', 'value', 'v']) ?? '', 200);
    const value = (textField(fields, ['value', 'v']) ?? text).slice(0, 200).toWellFormed();
    if (text === '' && value === '') return [];
    const states = [fields.s, fields.state].flat().join(' ');
    return [
      {
        value,
        text,
        ...((isOn(fields.selected) || /\bselected\b/.test(states)) && { selected: true as const }),
        ...((isOn(fields.disabled) || /\bdisabled\b/.test(states)) && { disabled: true as const }),
      },
    ];
  });
}

const textField = (fields: Fields, names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
};

const isOn = (value: unknown): boolean => value === true || value === 'true' || value === '';

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
