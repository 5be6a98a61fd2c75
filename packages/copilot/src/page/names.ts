/** The accessible name of an element: explicit names first, then its content, then hints. */
import { line } from './clean.ts';
import type { Document, ElementDraft, Range } from './document.ts';
import { MAX_NAME_LENGTH } from './page.ts';
import { isField, isTicked } from './roles.ts';

const MAX_LABEL_LENGTH = 80;
const MAX_ADJACENT_TEXT = 160;
const BUTTONS: Readonly<Record<string, string>> = { submit: 'Submit', reset: 'Reset', image: 'Submit' };

export type ElementName = { readonly name: string; readonly label?: string };

export function elementName(document: Document, element: ElementDraft, previous?: ElementDraft): ElementName {
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
