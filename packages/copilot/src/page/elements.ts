/** Converts element drafts to the elements that the copilot shows and matches. */
import { line, visible } from './clean.ts';
import type { Document, ElementDraft, OptionDraft } from './document.ts';
import { elementName } from './names.ts';
import {
  type ElementOption,
  type ElementState,
  HIDDEN_VALUE,
  MAX_OPTION_TEXT,
  MAX_OPTIONS,
  OPEN_SELECT,
  type PageElement,
} from './page.ts';
import { isTicked } from './roles.ts';

const MAX_VALUE_LENGTH = 500;
const MAX_ADDRESS_LENGTH = 500;

/** `previous` is the element before it: text between the two may be its label. */
export function elementFrom(document: Document, draft: ElementDraft, previous?: ElementDraft): PageElement {
  const { attributes, tag, role } = draft;
  const type = tag === 'input' || tag === 'button' ? attributes.get('type')?.trim().toLowerCase() : undefined;
  const loose = draft.options?.length === 0 ? line(draft.loose?.text ?? '', MAX_OPTION_TEXT) : '';
  const options = loose === '' ? draft.options?.slice(0, MAX_OPTIONS).map(optionFrom) : undefined;
  const value = elementValue(document, draft, type);
  const href = tag === 'a' || tag === 'area' ? attributes.get('href') : undefined;
  return {
    id: draft.id,
    role,
    ...elementName(document, draft, previous),
    ...(type !== undefined && type !== '' && { type: line(type, 30) }),
    ...(value !== undefined && { value }),
    state: stateOf(draft),
    ...(loose !== '' && { ...OPEN_SELECT, optionText: loose }),
    ...(options && { options }),
    ...(draft.list !== null && { list: draft.list }),
    ...(href !== undefined && { href: line(href, MAX_ADDRESS_LENGTH) }),
  };
}

function optionFrom({ attributes, text, disabled }: OptionDraft): ElementOption {
  const label = line(attributes.get('label') ?? text, 200);
  return {
    value: (attributes.get('value') ?? label).slice(0, 200).toWellFormed(),
    text: label,
    ...(attributes.has('selected') && { selected: true as const }),
    ...(disabled && { disabled: true as const }),
  };
}

function elementValue(document: Document, draft: ElementDraft, type: string | undefined): string | undefined {
  const { attributes, tag, role } = draft;
  if (tag === 'select') {
    const chosen = draft.options?.filter((option) => option.attributes.has('selected')).map(optionFrom);
    return chosen && chosen.length > 0 ? chosen.map(({ text }) => text).join(', ') : undefined;
  }
  if (tag === 'textarea') return shortened(draft.raw.replace(/^\r?\n/, ''));
  if (tag === 'input') {
    if (role === 'button' || isTicked(role)) return undefined;
    const value = attributes.get('value');
    if (type === 'password') return value ? HIDDEN_VALUE : value;
    return value === undefined ? undefined : shortened(value);
  }
  if (role === 'textbox' || role === 'searchbox')
    return line(document.text.slice(draft.start, draft.end), MAX_VALUE_LENGTH);
  const text = attributes.get('aria-valuetext') ?? attributes.get('aria-valuenow');
  return text === undefined ? undefined : line(text, MAX_VALUE_LENGTH);
}

/** Blanks are part of a value; only invisible characters are removed. */
const shortened = (value: string): string =>
  value.length > MAX_VALUE_LENGTH ? line(value, MAX_VALUE_LENGTH) : visible(value);

function stateOf({ attributes, tag, role, disabled }: ElementDraft): ElementState {
  const flag = (name: string): boolean | undefined => {
    const value = attributes.get(name);
    return value === 'true' || value === 'mixed' ? true : value === 'false' ? false : undefined;
  };
  const state: { -readonly [Name in keyof ElementState]: ElementState[Name] } = {};
  if (isTicked(role)) {
    const native = tag === 'input' && attributes.has('checked');
    state.checked = native || (flag('aria-checked') ?? flag('aria-pressed') ?? false);
  }
  if (disabled || attributes.has('disabled') || flag('aria-disabled')) state.disabled = true;
  const expanded = flag('aria-expanded');
  if (expanded !== undefined) state.expanded = expanded;
  const selected = role === 'option' && attributes.has('selected') ? true : flag('aria-selected');
  if (selected !== undefined) state.selected = selected;
  const pressed = flag('aria-pressed');
  if (pressed !== undefined) state.pressed = pressed;
  if (attributes.has('required') || flag('aria-required')) state.required = true;
  if (attributes.has('readonly') || flag('aria-readonly')) state.readonly = true;
  return state;
}
