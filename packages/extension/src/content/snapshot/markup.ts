/** The markup of one interactive element: what a reader needs for its role, name, state and value, and nothing else. */
import { isDrawing, sizeOf } from '../dom/appearance.ts';
import {
  isButton,
  isDisabled,
  isEditingHost,
  isInput,
  isLink,
  isReadOnly,
  isSelect,
  isSubmitter,
  isTextArea,
  isTickedInput,
  roleOf,
} from '../dom/kinds.ts';
import { nameOf } from '../dom/names.ts';
import { isSecret, withoutCardNumbers } from '../dom/secrets.ts';
import { folded, oneLine, textOf } from '../dom/text.ts';
import type { Interaction } from './interactive.ts';

/** `head` is followed by the number and `tail`; `content` is what is between the tags, `close` the end tag. */
export type Markup = {
  readonly name: string;
  /** the name is an attribute, not the content */
  readonly labelled: boolean;
  readonly head: string;
  readonly tail: string;
  readonly content: string;
  readonly close: string;
};

const MAX_VALUE_LENGTH = 600;
/** of the text in a box that can be clicked */
const MAX_CONTENT_LENGTH = 2_000;
const MAX_ADDRESS_LENGTH = 120;
const MAX_OPTIONS = 50;
const OPTION_TEXT = 80;
const BULLETS = '••••••••';

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark);
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const unescaped = (html: string): string =>
  html.replace(/&(?:lt|gt|quot|amp);/g, (entity) => MARKS[entity] ?? entity);
const MARKS: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

export function markupOf(element: Element, interaction: Interaction): Markup {
  const tag = tagOf(element);
  const given = interaction === 'drop' ? placeName(element) : nameOf(element);
  const name = isDrawing(element) ? `${given} (${sizeOf(element)})` : given;
  const content = contentOf(element, { tag, name });
  const labelled = content !== name || tag === 'textarea';
  const named = labelled ? attribute('aria-label', name) : '';
  return {
    name,
    labelled,
    head: `<${tag} id="`,
    tail: `"${named}${attributesOf(element, tag, interaction)}>`,
    content: escaped(content),
    close: tag === 'input' ? '' : `</${tag}>`,
  };
}

/** With the name as an attribute, for an element whose content is more than its name. */
export const withLabel = (markup: Markup, name: string): Markup =>
  markup.labelled || name === ''
    ? markup
    : {
        ...markup,
        name,
        labelled: true,
        tail: markup.tail.replace('"', `"${attribute('aria-label', name)}`),
      };

const TAGS = new Set(['a', 'button', 'input', 'select', 'textarea', 'summary']);

const tagOf = (element: Element): string => {
  if (TAGS.has(element.localName)) return element.localName;
  return element.localName === 'area' ? 'a' : 'span';
};

function contentOf(element: Element, { tag, name }: { tag: string; name: string }): string {
  if (tag === 'input' || tag === 'select') return '';
  if (isTextArea(element))
    return isSecret(element) ? '' : withoutCardNumbers(element.value.slice(0, MAX_VALUE_LENGTH));
  if (isEditingHost(element)) return withoutCardNumbers(textOf(element, MAX_VALUE_LENGTH));
  const text = withoutCardNumbers(textOf(element, MAX_CONTENT_LENGTH));
  const all =
    text.endsWith('…') && text.length > MAX_CONTENT_LENGTH - 5
      ? `${text} (cut: getText has all of it)`
      : text;
  return FIELDS.has(roleOf(element)) || isLonger(text, name) || addsText(text, name) ? all : name;
}

/** A name is cut; the text of a box that can be clicked is not. */
const isLonger = (text: string, name: string): boolean =>
  name.endsWith('…') && text.length > name.length && text.startsWith(name.slice(0, -1));

/** The name of an element, given by an attribute, does not repeat what it shows. */
const addsText = (text: string, name: string): boolean =>
  /[\p{L}\p{N}]{2}/u.test(text) &&
  !folded(name).includes(folded(text)) &&
  !folded(text).includes(folded(name));

const FIELDS = new Set(['combobox', 'textbox', 'searchbox', 'spinbutton', 'slider']);

/** The name of a place to drop things: its label or heading, its own text, or its id. */
function placeName(element: Element): string {
  const label = element.getAttribute('aria-label') ?? element.getAttribute('title');
  if (label) return oneLine(label, 80);
  const heading = element.querySelector('h1, h2, h3, h4, h5, h6, legend, header, [class*="title"]');
  if (heading) return textOf(heading, 80);
  const own = [...element.childNodes]
    .filter((node) => node.nodeType === 3)
    .map((node) => node.nodeValue ?? '');
  const before = element.previousElementSibling;
  return (
    oneLine(own.join(' '), 80) ||
    (before && /^h[1-6]$/.test(before.localName) ? textOf(before, 80) : '') ||
    nameOf(element)
  );
}

const attribute = (name: string, value: string): string =>
  value === '' ? '' : ` ${name}="${escaped(value)}"`;
const flag = (name: string, on: boolean): string => (on ? ` ${name}` : '');

const STATES = ['aria-expanded', 'aria-selected', 'aria-pressed', 'aria-valuenow', 'aria-valuetext'];

function attributesOf(element: Element, tag: string, interaction: Interaction): string {
  const role = roleOf(element);
  const native = tag !== 'span' && !element.hasAttribute('role');
  const parts = [
    native || role === 'generic' ? '' : attribute('role', role),
    role === 'generic' && (interaction === 'clickable' || interaction === 'opener') && tag === 'span'
      ? ` role="${isDrawing(element) ? 'img' : 'button'}"`
      : '',
    interaction === 'drag' ? ' draggable="true"' : '',
    ...STATES.map((name) => attribute(name, element.getAttribute(name) ?? '')),
    flag('disabled', isDisabled(element)),
    flag(
      'required',
      (element as HTMLInputElement).required === true || element.getAttribute('aria-required') === 'true',
    ),
    flag('readonly', isReadOnly(element)),
  ];
  if (isLink(element)) parts.push(attribute('href', addressOf(element)));
  if (isSubmitter(element)) parts.push(' type="submit"');
  else if (isInput(element)) parts.push(inputAttributes(element));
  if (isTickedInput(element)) parts.push(flag('checked', element.checked));
  else if (element.hasAttribute('aria-checked'))
    parts.push(attribute('aria-checked', element.getAttribute('aria-checked') ?? ''));
  if (isSelect(element)) parts.push(flag('multiple', element.multiple));
  if (isButton(element) && element.hasAttribute('aria-haspopup')) parts.push(' aria-haspopup="true"');
  return parts.join('');
}

const TICKED = new Set(['checkbox', 'radio']);

function inputAttributes(element: HTMLInputElement): string {
  const type = element.type === 'text' ? '' : attribute('type', element.type);
  const list = flag('list', element.hasAttribute('list'));
  if (TICKED.has(element.type) || element.type === 'file' || element.type === 'button') return type + list;
  if (!isSecret(element))
    return type + list + attribute('value', withoutCardNumbers(element.value.slice(0, MAX_VALUE_LENGTH)));
  // Only whether a password is filled in; of a card not even that.
  return type + (element.type === 'password' && element.value !== '' ? attribute('value', BULLETS) : '');
}

/** Short: relative to the page where possible. */
function addressOf(link: HTMLAnchorElement): string {
  const written = link.getAttribute('href') ?? '';
  if (/^(?:javascript|data|blob):/i.test(written.trim())) return '#';
  return written.length > MAX_ADDRESS_LENGTH
    ? `${written.slice(0, MAX_ADDRESS_LENGTH).split('?')[0]}`
    : written;
}

/** Of long lists the first options and the selected ones. */
export function optionsMarkup(select: HTMLSelectElement): string {
  const all = [...select.options];
  const rest = all
    .slice(MAX_OPTIONS)
    .filter((option) => option.selected)
    .slice(0, 5);
  return [...all.slice(0, MAX_OPTIONS - rest.length), ...rest].map(optionMarkup).join('');
}

function optionMarkup(option: HTMLOptionElement): string {
  const text = oneLine(option.label || option.text, OPTION_TEXT);
  const value = option.value === text ? '' : ` value="${escaped(option.value.slice(0, 200))}"`;
  const disabled = option.disabled || option.closest('optgroup')?.disabled === true;
  return `<option${value}${flag('selected', option.selected)}${flag('disabled', disabled)}>${escaped(text)}</option>`;
}
