/** Reads a page in any form that a client sends. Pure; never throws. */
import { jsonNestsDeeper, parsedJson } from '@parlance/protocol';

import { line, visible } from './clean.ts';
import { type Document, type ElementDraft, type OptionDraft, type Range, readDocument } from './document.ts';

import { type ParsedNodes, readNodes } from './nodes.ts';
import {
  type ElementOption,
  type ElementState,
  elementState,
  HIDDEN_VALUE,
  MAX_NAME_LENGTH,
  MAX_OPTION_TEXT,
  MAX_OPTIONS,
  OPEN_SELECT,
  type Page,
  type PageElement,
} from './page.ts';

import { renderElement } from './render.ts';
import { isField, isTicked } from './roles.ts';

export type PageInput = {
  readonly dom?: string;
  readonly interactiveTree?: unknown;
  readonly semanticNodes?: unknown;
  readonly skeletonDom?: string;
  readonly url?: string;
  readonly title?: string;
  /** the client sends the whole page on request */
  readonly wholeOnRequest?: boolean;
};

type Form = ParsedNodes & { readonly title: string; readonly markup: boolean };

/** Share of the budget for elements; the text gets the rest, and what they do not use. */
const ELEMENTS_SHARE = 0.6;

/**
 * Of several forms of a page the first with elements provides them: `dom`, `interactiveTree`, `semanticNodes`, `skeletonDom`;
 * text comes from markup rather than from a tree. The rendered page costs about `budgetTokens` at most; `elements` is always
 * complete.
 */
export function parsePage(input: PageInput, budgetTokens: number): Page {
  const forms = formsOf(input);
  const elements = forms.find((form) => form.elements.length > 0)?.elements ?? [];
  const withText = forms.filter((form) => /\S/.test(form.text));
  const raw = (withText.find((form) => form.markup) ?? withText[0])?.text ?? '';
  const title = input.title?.trim() || (forms.find((form) => form.title !== '')?.title ?? '');
  const budget = Math.max(0, budgetTokens);
  const { shown, price } = withinBudget(elements, budget * ELEMENTS_SHARE);
  const { text, truncated } = readable(raw, budget - price);
  return {
    title: line(title, 300),
    url: line(input.url ?? '', 2_000),
    elements,
    shown,
    text,
    truncated: truncated || shown < elements.length,
    ...(forms.length > 0 &&
      !forms.some((form) => form.markup) && {
        textMissing: input.wholeOnRequest ? ('onRequest' as const) : ('unavailable' as const),
      }),
  };
}

function formsOf({ dom, interactiveTree, semanticNodes, skeletonDom }: PageInput): Form[] {
  return [
    ...(dom ? [markup(dom)] : []),
    ...(interactiveTree ? [tree(interactiveTree)] : []),
    ...(semanticNodes ? [tree(semanticNodes)] : []),
    ...(skeletonDom ? [markup(skeletonDom)] : []),
  ];
}

function markup(html: string): Form {
  const document = readDocument(html);
  const elements = document.elements.map((draft, index) =>
    elementFrom(document, draft, document.elements[index - 1]),
  );
  return { elements, text: document.text, title: document.title, markup: true };
}

const tree = (source: unknown): Form => ({ ...readNodes(parsed(source)), title: '', markup: false });

/** Some clients send a tree as JSON inside JSON. */
function parsed(source: unknown): unknown {
  if (typeof source !== 'string' || jsonNestsDeeper(source)) return source;
  const value = parsedJson(source);
  return value === undefined ? source : value;
}

function withinBudget(elements: readonly PageElement[], budget: number): { shown: number; price: number } {
  let price = 0;
  for (const [shown, element] of elements.entries()) {
    const more = priceOf(renderElement(element)) + 1;
    if (price + more > budget) return { shown, price };
    price += more;
  }
  return { shown: elements.length, price };
}

// Converts element drafts to the elements that the copilot shows and matches.

const MAX_VALUE_LENGTH = 500;
const MAX_ADDRESS_LENGTH = 500;

/** `previous` is the element before it: text between the two may be its label. */
function elementFrom(document: Document, draft: ElementDraft, previous?: ElementDraft): PageElement {
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
  const aria = (name: keyof ElementState): boolean | undefined => {
    const value = attributes.get(`aria-${name}`);
    return value === 'true' || value === 'mixed' ? true : value === 'false' ? false : undefined;
  };
  const native: Partial<Record<keyof ElementState, boolean>> = {
    checked: tag === 'input' && attributes.has('checked'),
    disabled: disabled || attributes.has('disabled'),
    selected: role === 'option' && attributes.has('selected'),
    required: attributes.has('required'),
    readonly: attributes.has('readonly'),
  };
  const flag = (name: keyof ElementState) => native[name] || aria(name);
  return elementState(flag, isTicked(role) ? (flag('checked') ?? flag('pressed') ?? false) : undefined);
}

// The accessible name of an element: explicit names first, then its content, then hints.

const MAX_LABEL_LENGTH = 80;
const MAX_ADJACENT_TEXT = 160;
const BUTTONS: Readonly<Record<string, string>> = { submit: 'Submit', reset: 'Reset', image: 'Submit' };

type ElementName = { readonly name: string; readonly label?: string };

function elementName(document: Document, element: ElementDraft, previous?: ElementDraft): ElementName {
  const given = explicitName(document, element);
  const name = given || hintedName(element);
  const label = labelOf(document, element, { given, previous });
  return label === '' || label === name ? { name } : { name, label };
}

/** An explicit name. */
function explicitName(document: Document, element: ElementDraft): string {
  const { attributes, tag, role } = element;
  const given = (name: string) => line(attributes.get(name) ?? '', MAX_NAME_LENGTH);
  return (
    labelledBy(document, element) ||
    given('aria-label') ||
    (isField(role) || isTicked(role) ? labelText(document, element) : '') ||
    (tag === 'input' && role === 'button' ? given('value') : '') ||
    given('alt') ||
    line(element.choice?.text ?? '', MAX_NAME_LENGTH) ||
    (isField(role) ? '' : within(document.text, element))
  );
}

function hintedName({ attributes, tag, role }: ElementDraft): string {
  const given = (name: string) => line(attributes.get(name) ?? '', MAX_NAME_LENGTH);
  const type = (attributes.get('type') ?? '').toLowerCase();
  const button = tag === 'input' && role === 'button' ? (BUTTONS[type] ?? '') : '';
  return given('placeholder') || given('aria-placeholder') || given('title') || button;
}

function labelledBy(document: Document, element: ElementDraft): string {
  const ids = element.attributes.get('aria-labelledby')?.trim();
  if (!ids) return '';
  const texts = ids.split(/\s+/, 8).map((id) => {
    const range = document.ids.get(id);
    return range ? within(document.text, range) : '';
  });
  return line(texts.join(' '), MAX_NAME_LENGTH);
}

/**
 * A label that names the control, or the one around it. Clients replace ids by numbers, so a `for` without a match is
 * compared with the control's `name`.
 */
function labelText(document: Document, element: ElementDraft): string {
  const pointed =
    document.labels.get(String(element.id)) ?? document.labels.get(element.attributes.get('name') ?? '');
  if (pointed) return without(document.text, pointed, element);
  return element.wrapper ? without(document.text, element.wrapper, element) : '';
}

/**
 * Adjacent text: before a field without a name, after a checkbox, otherwise the row, card or group that contains it.
 */
function labelOf(
  document: Document,
  element: ElementDraft,
  { given, previous }: { readonly given: string; readonly previous?: ElementDraft },
): string {
  if (given === '' && isTicked(element.role)) return after(document.text, element);
  const textBefore = given === '' && isField(element.role) ? before(document.text, element, previous) : '';
  if (textBefore !== '') return textBefore;
  return element.group ? line(without(document.text, element.group, element), MAX_LABEL_LENGTH) : '';
}

const within = (text: string, { start, end }: Range): string =>
  line(text.slice(start, Math.min(end, start + MAX_NAME_LENGTH * 10)), MAX_NAME_LENGTH);

function without(text: string, outer: Range, inner: Range): string {
  const apart = inner.start < outer.start || inner.start > outer.end;
  if (apart) return within(text, outer);
  const far = MAX_NAME_LENGTH;
  const head = text.slice(Math.max(outer.start, inner.start - far), inner.start);
  const tail = text.slice(inner.end, Math.min(outer.end, inner.end + far));
  return line(`${head} ${tail}`, MAX_NAME_LENGTH);
}

function before(text: string, { start }: Range, previous: Range | undefined): string {
  const floor = previous ? (previous.end <= start ? previous.end : previous.start) : 0;
  const lines = text.slice(Math.max(floor, start - MAX_ADJACENT_TEXT), start).split(/[\n\t]/);
  return line(lines.findLast((each) => each.trim() !== '') ?? '', MAX_LABEL_LENGTH);
}

function after(text: string, { end }: Range): string {
  const lines = text.slice(end, end + MAX_ADJACENT_TEXT).split(/[\n\t]/);
  return line(lines.find((each) => each.trim() !== '') ?? '', MAX_LABEL_LENGTH);
}

// The readable text of a page, cut to a budget between lines.

type Readable = { readonly text: string; readonly truncated: boolean };

const MAX_LINE_LENGTH = 4_000;

/** Blocks become lines, cells are separated, and repeated lines are merged. */
function readable(raw: string, budgetTokens: number): Readable {
  const lines: string[] = [];
  let left = budgetTokens;
  let at = 0;
  while (at < raw.length) {
    const next = raw.indexOf('\n', at);
    const end = next === -1 ? raw.length : next;
    for (const piece of pieces(raw, at, end)) {
      const said = piece
        .split('\t')
        .map((cell) => visible(cell).replace(/\s+/g, ' ').trim())
        .filter((cell) => cell !== '')
        .join(' | ');
      if (said === '' || said === lines.at(-1)) continue;
      const price = priceOf(said) + 1;
      if (price > left) {
        const start = beginning(said, left);
        if (start !== '') lines.push(start);
        return { text: lines.join('\n'), truncated: true };
      }
      left -= price;
      lines.push(said);
    }
    at = end + 1;
  }
  return { text: lines.join('\n'), truncated: false };
}

function* pieces(raw: string, start: number, end: number): Generator<string> {
  for (let at = start; at < end; at += MAX_LINE_LENGTH)
    yield raw.slice(at, Math.min(end, at + MAX_LINE_LENGTH));
}

/** As many whole words as the remaining budget allows. */
function beginning(said: string, left: number): string {
  let length = Math.min(said.length, left * 3);
  while (length > 0 && priceOf(said.slice(0, length)) + 1 > left) length = Math.floor(length * 0.8);
  if (length < 20) return '';
  const part = said.slice(0, length);
  const blank = part.lastIndexOf(' ');
  return line(blank > length / 2 ? part.slice(0, blank) : part, MAX_LINE_LENGTH);
}

/** Upper estimate of the tokens of a text: higher than vendors count, so that a budget is never exceeded. */
function priceOf(text: string): number {
  let price = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    price += code < 128 ? (isWord(code) ? 0.28 : 0.5) : code < 0x2000 ? 0.6 : 1;
  }
  return Math.ceil(price);
}

/** Letters with the blank before a word; digits and punctuation make smaller tokens. */
const isWord = (code: number): boolean => code === 32 || ((code | 32) >= 97 && (code | 32) <= 122);
