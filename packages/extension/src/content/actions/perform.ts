/** Executes one action of the grammar in the page. */
import type { ActionOutcome, PageAction } from '../../messages.ts';
import {
  isDisabled,
  isInput,
  isSelect,
  isTextArea,
  isTickedInput,
  isTickedRole,
  roleOf,
} from '../dom/kinds.ts';
import { isSecret, withoutCardNumbers } from '../dom/secrets.ts';
import { oneLine, textOf } from '../dom/text.ts';
import { isVisible } from '../dom/visibility.ts';
import { clickAt } from '../events.ts';
import { elementById, numberOf, subjectOf } from '../numbers.ts';
import { PageFailure, pageError } from '../page-error.ts';
import { reported, sendToPage } from '../page-world.ts';
import { beginObserving } from '../settle.ts';
import {
  accept,
  acceptNext,
  answerFor,
  dismiss,
  enterIntoPrompt,
  forgetDialogs,
  isAnswer,
  noteDialogs,
} from './dialogs.ts';
import { setValue } from './fill.ts';
import { blur, focus } from './focus.ts';
import {
  click,
  clickPoint,
  doubleClick,
  dragAndDrop,
  dragPoints,
  draw,
  hover,
  hoverPoint,
  rightClick,
} from './pointer.ts';
import { frames, reachElement, usable } from './reach.ts';
import { findText, scroll } from './scroll.ts';
import { dropdownOptions, selectDropdown } from './select.ts';
import { selectText } from './select-text.ts';
import { press, type } from './type.ts';

const MAX_WAIT_SECONDS = 60;

/** Never throws: a failure is part of the outcome. */
export async function perform(action: PageAction): Promise<ActionOutcome> {
  const previousUrl = location.href;
  beginObserving();
  if (action.name !== 'acceptDialog') sendToPage({ type: 'begin', ...answerFor() });
  try {
    const value = await execute(action);
    remember(action);
    return { success: true, previousUrl, elementFound: true, ...(value !== undefined && { value }) };
  } catch (thrown) {
    const error = pageError(thrown);
    return { success: false, error, previousUrl, elementFound: error.code !== 'ELEMENT_NOT_FOUND' };
  }
}

/** The last action, unless it answered dialogs. */
let last: PageAction | null = null;

const remember = (action: PageAction): void => {
  last = isAnswer(action) ? null : action;
};

/** Called when the page has settled: a dialog may also open a moment after the action. */
export function noteOpenedDialogs(): void {
  if (last) noteDialogs(last, reported.dialogs);
}

async function execute(action: PageAction): Promise<unknown> {
  if (action.name === 'type' && enterIntoPrompt(action.text)) return undefined;
  if (!isAnswer(action) && !READING.has(action.name)) forgetDialogs();
  switch (action.name) {
    case 'acceptDialog':
      return await acceptOpen();
    case 'dismissDialog':
      return dismiss();
    case 'wait':
      return await wait(action.seconds);
    case 'click':
      return await click(action.id);
    case 'doubleClick':
      return await doubleClick(action.id);
    case 'rightClick':
      return await rightClick(action.id);
    case 'hover':
      return await hover(action.id);
    case 'dragAndDrop':
      return await dragAndDrop(action.from, action.to);
    case 'clickAt':
      return await clickPoint(action);
    case 'hoverAt':
      return await hoverPoint(action);
    case 'drag':
      return await dragPoints(action);
    case 'draw':
      return await draw(action);
    case 'selectText':
      return await selectText(action);
    case 'setValue':
      return await setValue(action.id, action.text);
    case 'type':
      return await type(action.text);
    case 'press':
      return await press(action.key);
    case 'focus':
      return await focus(action.id);
    case 'blur':
      return blur(action.id);
    case 'check':
      return await setChecked(action.id, true);
    case 'uncheck':
      return await setChecked(action.id, false);
    case 'selectDropdown':
      return await selectDropdown(action.id, action.value);
    case 'dropdownOptions':
      return await dropdownOptions(action.id);
    case 'scroll':
      return await scroll(action);
    case 'findText':
      return await findText(action.text);
    case 'getText':
      return getText(action.id);
    case 'getAttribute':
      return getAttribute(action.id, action.attribute);
    case 'isVisible':
      return isShown(action.id);
    case 'isEnabled':
      return isEnabled(action.id);
    case 'getCookies':
      return getCookies();
    case 'getLocalStorage':
      return getLocalStorage();
  }
}

async function acceptOpen(): Promise<unknown> {
  const again = accept();
  if (!again) return undefined;
  try {
    return await execute(again.action);
  } catch (thrown) {
    if (!(thrown instanceof PageFailure)) throw thrown;
    acceptNext(again.text);
    throw new PageFailure(
      'NO_DIALOG',
      `What opened the dialog has changed. ${thrown.message} Open it again as before: the dialog is accepted then.`,
    );
  }
}

const READING: ReadonlySet<string> = new Set([
  'getText',
  'getAttribute',
  'isVisible',
  'isEnabled',
  'wait',
  'findText',
  'dropdownOptions',
]);

async function wait(seconds: number): Promise<void> {
  if (seconds > MAX_WAIT_SECONDS)
    throw new PageFailure('INVALID_VALUE', `The longest wait is ${MAX_WAIT_SECONDS} seconds.`);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

// Check boxes, radio buttons and switches.

async function setChecked(id: number, wanted: boolean): Promise<void> {
  const element = boxIn(usable(id));
  if (isChecked(element) === wanted) return;
  const role = roleOf(element);
  if (!wanted && (role === 'radio' || role === 'menuitemradio'))
    throw refused(element, 'cannot be unchecked: choose another one');
  const { target, at } = await reachElement(element);
  clickAt(target, { at });
  await frames(2);
  if (isChecked(element) === wanted || !element.isConnected) return;
  // Some labels stop the click: the control itself takes it then.
  element.click();
  await frames(2);
  if (isChecked(element) !== wanted) throw refused(element, `stays ${wanted ? 'unchecked' : 'checked'}`);
}

/** The element itself, or the only box inside of it. */
function boxIn(element: HTMLElement): HTMLElement {
  if (isTickedInput(element) || isTickedRole(roleOf(element)) || element.hasAttribute('aria-pressed'))
    return element;
  const boxes = element.querySelectorAll<HTMLElement>(
    'input[type=checkbox], input[type=radio], [role=checkbox], [role=switch]',
  );
  const [only] = boxes;
  if (only && boxes.length === 1) return only;
  throw refused(element, 'is not a box to tick');
}

function isChecked(element: HTMLElement): boolean {
  if (isTickedInput(element)) return element.checked;
  return (element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed')) === 'true';
}

const refused = (element: Element, why: string): PageFailure =>
  new PageFailure('NOT_CHECKABLE', `${subjectOf(element)} ${why}.`, numberOf(element));

// Actions that only read. Values of secret fields are never returned.

const MAX_LENGTH = 8_000;
const MAX_ENTRIES = 100;

const secret = (element: Element): PageFailure =>
  new PageFailure(
    'SECRET_FIELD',
    `${subjectOf(element)} holds a secret, which is never read.`,
    numberOf(element),
  );

function getText(id: number): string {
  const element = elementById(id);
  if (isSecret(element)) throw secret(element);
  if (isInput(element) || isTextArea(element)) return withoutCardNumbers(element.value.slice(0, MAX_LENGTH));
  if (isSelect(element)) return [...element.selectedOptions].map(({ label }) => label).join(', ');
  const text = element.innerText ?? element.textContent ?? '';
  return withoutCardNumbers(text.trim().slice(0, MAX_LENGTH)) || textOf(element, MAX_LENGTH);
}

function getAttribute(id: number, name: string): string | null {
  const element = elementById(id);
  const wanted = name.trim().toLowerCase();
  if (wanted === 'value' && isSecret(element)) throw secret(element);
  if (wanted === 'value' && (isInput(element) || isTextArea(element) || isSelect(element)))
    return element.value.slice(0, MAX_LENGTH);
  const value = element.getAttribute(name);
  return value === null ? null : withoutCardNumbers(value.slice(0, MAX_LENGTH));
}

function isShown(id: number): boolean {
  return isVisible(elementById(id));
}

function isEnabled(id: number): boolean {
  return !isDisabled(elementById(id));
}

/** Only those that scripts of the page can read as well. */
function getCookies(): Record<string, string> {
  const pairs = document.cookie.split('; ').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.slice(0, MAX_ENTRIES).map((pair) => {
      const at = pair.indexOf('=');
      return at === -1 ? [pair, ''] : [pair.slice(0, at), oneLine(pair.slice(at + 1), 500)];
    }),
  );
}

function getLocalStorage(): Record<string, string> {
  const entries = Object.entries(localStorage).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([key, value]) => [key, oneLine(String(value), 500)]));
}
