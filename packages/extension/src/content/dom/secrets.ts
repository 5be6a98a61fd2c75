/** Fields whose values never leave the page: passwords, cards, one-time codes. */
import { isInput, isTextArea } from './kinds.ts';
import { labelsOf, nameOf } from './names.ts';

const SECRET_AUTOCOMPLETE = /\b(?:cc-\S+|current-password|new-password|one-time-code)\b/;
const CARD_NAME =
  /card[\s_-]*(?:num|no\b|holder|code)|credit[\s_-]*card|debit[\s_-]*card|\bcc[\s_-]*(?:num|exp|csc|cvc|name)|\bcv[cv]2?\b|\bcsc\b|security[\s_-]*code|\biban\b/i;
const OTHER_SECRETS =
  /passw|passphrase|passcode|\bpwd\b|\bpin\b|\bssn\b|social[\s_-]*security|one[\s_-]*time[\s_-]*(?:code|pass)|\botp\b|expiry[\s_-]*date/i;

/** A field that was a password once stays one, also while “show password” is on. */
const passwords = new WeakSet<Element>();

export function isSecret(element: Element): boolean {
  if (isInput(element) && element.type === 'password') passwords.add(element);
  if (passwords.has(element)) return true;
  if (!isInput(element) && !isTextArea(element)) return false;
  if (SECRET_AUTOCOMPLETE.test(element.getAttribute('autocomplete') ?? '')) return true;
  return (
    wordsFor(element).some((text) => CARD_NAME.test(text) || OTHER_SECRETS.test(text)) ||
    isCardNumber(element.value)
  );
}

/** Whether it takes a payment card or a bank account. */
export function isPaymentField(element: Element): boolean {
  if (!isInput(element)) return false;
  if (/\bcc-\S+/.test(element.getAttribute('autocomplete') ?? '')) return true;
  return wordsFor(element).some((text) => CARD_NAME.test(text)) || isCardNumber(element.value);
}

function wordsFor(element: HTMLInputElement | HTMLTextAreaElement): string[] {
  const own = ['name', 'id', 'placeholder', 'title', 'data-testid'].map(
    (attribute) => element.getAttribute(attribute) ?? '',
  );
  const labels = labelsOf(element).map((label) => (label.textContent ?? '').slice(0, 200));
  return [...own, ...labels, nameOf(element)].map(apart).filter((text) => text !== '');
}

/** `cardNumber` as `card Number`. */
const apart = (text: string): string => text.replace(/([a-z])([A-Z])/g, '$1 $2');

/** 13 to 19 digits with a valid check digit (Luhn). */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13,19}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits.at(-1 - index));
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const CARD_IN_TEXT = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;

/** Card numbers in running text are masked. */
export const withoutCardNumbers = (text: string): string =>
  text.length < 13 ? text : text.replace(CARD_IN_TEXT, (found) => (isCardNumber(found) ? '••••' : found));
