/** Actions that only read. Values of secret fields are never returned. */
import { isDisabled } from '../dom/disabled.ts';
import { isInput, isSelect, isTextArea } from '../dom/kinds.ts';
import { isSecret, withoutCardNumbers } from '../dom/secrets.ts';
import { oneLine, textOf } from '../dom/text.ts';
import { isVisible } from '../dom/visibility.ts';
import { elementById, numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';

const MAX_LENGTH = 8_000;
const MAX_ENTRIES = 100;

const secret = (element: Element): PageFailure =>
  new PageFailure(
    'SECRET_FIELD',
    `${subjectOf(element)} holds a secret, which is never read.`,
    numberOf(element),
  );

export function getText(id: number): string {
  const element = elementById(id);
  if (isSecret(element)) throw secret(element);
  if (isInput(element) || isTextArea(element)) return withoutCardNumbers(element.value.slice(0, MAX_LENGTH));
  if (isSelect(element)) return [...element.selectedOptions].map(({ label }) => label).join(', ');
  const text = element.innerText ?? element.textContent ?? '';
  return withoutCardNumbers(text.trim().slice(0, MAX_LENGTH)) || textOf(element, MAX_LENGTH);
}

export function getAttribute(id: number, name: string): string | null {
  const element = elementById(id);
  const wanted = name.trim().toLowerCase();
  if (wanted === 'value' && isSecret(element)) throw secret(element);
  if (wanted === 'value' && (isInput(element) || isTextArea(element) || isSelect(element)))
    return element.value.slice(0, MAX_LENGTH);
  const value = element.getAttribute(name);
  return value === null ? null : withoutCardNumbers(value.slice(0, MAX_LENGTH));
}

export function isShown(id: number): boolean {
  return isVisible(elementById(id));
}

export function isEnabled(id: number): boolean {
  return !isDisabled(elementById(id));
}

/** Only those that scripts of the page can read as well. */
export function getCookies(): Record<string, string> {
  const pairs = document.cookie.split('; ').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.slice(0, MAX_ENTRIES).map((pair) => {
      const at = pair.indexOf('=');
      return at === -1 ? [pair, ''] : [pair.slice(0, at), oneLine(pair.slice(at + 1), 500)];
    }),
  );
}

export function getLocalStorage(): Record<string, string> {
  const entries = Object.entries(localStorage).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([key, value]) => [key, oneLine(String(value), 500)]));
}
