/** What an element is called: what its author says first, then what stands in it, then what hints at it. */
import { line } from './clean.ts';
import type { Document, ElementDraft, Range } from './document.ts';
import { LONGEST_NAME } from './page.ts';
import { isField, isTicked } from './roles.ts';

const LONGEST_LABEL = 80;
const LOOKED_BACK = 160;
const BUTTONS: Readonly<Record<string, string>> = { submit: 'Submit', reset: 'Reset', image: 'Submit' };

export type Called = { readonly name: string; readonly label?: string };

export function calledOf(document: Document, element: ElementDraft): Called {
  const labelled = isField(element.role) || isTicked(element.role) ? labelText(document, element) : '';
  const name = nameOf(document, element, labelled);
  const label = labelOf(document, element, name, labelled);
  return label === '' || label === name ? { name } : { name, label };
}

function nameOf(document: Document, element: ElementDraft, labelled: string): string {
  const { attributes, tag, role } = element;
  const given = (name: string) => line(attributes.get(name) ?? '', LONGEST_NAME);
  const button = tag === 'input' && role === 'button';
  return (
    labelledBy(document, element) ||
    given('aria-label') ||
    labelled ||
    (button ? given('value') : '') ||
    given('alt') ||
    line(element.choice?.text ?? '', LONGEST_NAME) ||
    (isField(role) ? '' : within(document.text, element)) ||
    given('placeholder') ||
    given('aria-placeholder') ||
    given('title') ||
    (button ? (BUTTONS[(attributes.get('type') ?? '').toLowerCase()] ?? '') : '')
  );
}

function labelledBy(document: Document, element: ElementDraft): string {
  const ids = element.attributes.get('aria-labelledby')?.trim();
  if (!ids) return '';
  const texts = ids.split(/\s+/, 8).map((id) => {
    const range = document.ids.get(id);
    return range ? within(document.text, range) : '';
  });
  return line(texts.join(' '), LONGEST_NAME);
}

/**
 * A label that names the control, or the one around it. Clients put numbers where the ids were, so a `for` that nobody answers
 * to is tried against the control's `name`.
 */
function labelText(document: Document, element: ElementDraft): string {
  const pointed =
    document.labels.get(String(element.id)) ?? document.labels.get(element.attributes.get('name') ?? '');
  if (pointed) return without(document.text, pointed, element);
  return element.wrapper ? without(document.text, element.wrapper, element) : '';
}

/** The text before a field, the one after a box to tick; of the rest, the row, card or group it stands in. */
function labelOf(document: Document, element: ElementDraft, name: string, labelled: string): string {
  if (isTicked(element.role) && name === '') return after(document.text, element);
  if (isField(element.role) && (labelled === '' || labelled !== name)) {
    const said = labelled || before(document.text, element);
    if (said !== '' && said !== name) return line(said, LONGEST_LABEL);
  }
  return element.group ? line(without(document.text, element.group, element), LONGEST_LABEL) : '';
}

const within = (text: string, { start, end }: Range): string =>
  line(text.slice(start, Math.min(end, start + LONGEST_NAME * 10)), LONGEST_NAME);

function without(text: string, outer: Range, inner: Range): string {
  const apart = inner.start < outer.start || inner.start > outer.end;
  if (apart) return within(text, outer);
  const far = LONGEST_NAME;
  const head = text.slice(Math.max(outer.start, inner.start - far), inner.start);
  const tail = text.slice(inner.end, Math.min(outer.end, inner.end + far));
  return line(`${head} ${tail}`, LONGEST_NAME);
}

function before(text: string, { start }: Range): string {
  const lines = text.slice(Math.max(0, start - LOOKED_BACK), start).split(/[\n\t]/);
  const last = lines.findLast((each) => each.trim() !== '') ?? '';
  return line(last, LONGEST_LABEL);
}

function after(text: string, { end }: Range): string {
  const lines = text.slice(end, end + LOOKED_BACK).split(/[\n\t]/);
  return line(lines.find((each) => each.trim() !== '') ?? '', LONGEST_LABEL);
}
