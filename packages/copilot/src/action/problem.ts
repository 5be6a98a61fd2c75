/** Checks whether an action is possible on a page before it is sent. */
import type { Page, PageElement } from '../page/page.ts';
import { elementOf, hasMoreOptions, isSelect, optionWithin } from '../page/page.ts';
import { isTicked } from '../page/roles.ts';
import { folded } from '../page/words.ts';
import { type Action, isExtended } from './action.ts';

const MAX_WAIT_SECONDS = 60;
const WRITABLE = new Set(['textbox', 'searchbox', 'spinbutton', 'combobox', 'slider', 'color']);

/** The reason as a sentence; null if the action is possible. */
export function actionProblem(action: Action, page: Page): string | null {
  if (isExtended(action.name) && !page.extended) return `This browser does not execute ${action.name}.`;
  switch (action.name) {
    case 'clickAt':
    case 'draw':
      return onElement(page, action.id, disabledProblem);
    case 'drag':
      return onElement(page, action.from, disabledProblem) ?? onElement(page, action.to, () => null);
    case 'selectText':
      if (action.within !== undefined) return onElement(page, action.within, () => null);
      return action.text.trim() === '' ? 'There is no text to select.' : null;
    case 'click':
    case 'doubleClick':
      return onElement(page, action.id, (element) => disabledProblem(element) ?? clickProblem(element));
    case 'rightClick':
      return onElement(page, action.id, disabledProblem);
    case 'setValue':
      return onElement(page, action.id, (element) => disabledProblem(element) ?? textProblem(element));
    case 'check':
    case 'uncheck':
      return onElement(
        page,
        action.id,
        (element) => disabledProblem(element) ?? checkProblem(element, action.name === 'check'),
      );
    case 'selectDropdown':
      return onElement(
        page,
        action.id,
        (element) => disabledProblem(element) ?? optionProblem(element, action.value),
      );
    case 'dropdownOptions':
      return onElement(page, action.id, (element) =>
        isList(element) ? null : `${describe(element)} has no list of options.`,
      );
    case 'focus':
    case 'blur':
    case 'hover':
    case 'hoverAt':
    case 'getText':
    case 'getAttribute':
    case 'isVisible':
    case 'isEnabled':
      return onElement(page, action.id, () => null);
    case 'dragAndDrop':
      return onElement(page, action.from, disabledProblem) ?? onElement(page, action.to, () => null);
    case 'navigate':
    case 'createTab':
      return isAddress(action.url) || (action.name === 'createTab' && action.url === 'about:blank')
        ? null
        : `${JSON.stringify(action.url.slice(0, 100))} is not an http or https address.`;
    case 'search':
      return action.query.trim() === '' ? 'There is nothing to search for.' : null;
    case 'findText':
      return action.text === '' ? 'There is no text to find.' : null;
    case 'press':
      return action.key === '' ? 'No key is named.' : null;
    case 'wait':
      return action.seconds > MAX_WAIT_SECONDS ? `The maximum wait is ${MAX_WAIT_SECONDS} seconds.` : null;
    case 'scroll':
      return action.index === undefined ? null : onElement(page, action.index, () => null);
    case 'type':
    case 'goBack':
    case 'goForward':
    case 'switch':
    case 'close':
    case 'getTabs':
    case 'screenshot':
    case 'numberedScreenshot':
    case 'acceptDialog':
    case 'dismissDialog':
    case 'getCookies':
    case 'getLocalStorage':
    case 'evaluate':
    case 'finish':
    case 'fail':
      return null;
  }
}

function onElement(page: Page, id: number, check: (element: PageElement) => string | null): string | null {
  const element = elementOf(page, id);
  return element ? check(element) : `There is no element ${id} on the page.`;
}

const describe = ({ id, role, name }: PageElement): string =>
  name === '' ? `Element ${id} (${role})` : `Element ${id} (${role} ${JSON.stringify(name)})`;

const disabledProblem = (element: PageElement): string | null =>
  element.state.disabled ? `${describe(element)} is disabled.` : null;

function clickProblem(element: PageElement): string | null {
  if (isSelect(element)) return `${describe(element)} is a list: use selectDropdown.`;
  if (element.list === undefined) return null;
  return `${describe(element)} is an option of the list ${element.list}: use selectDropdown on ${element.list}.`;
}

function textProblem(element: PageElement): string | null {
  if (isSelect(element)) return `${describe(element)} is a list: use selectDropdown.`;
  if (element.state.readonly) return `${describe(element)} cannot be changed.`;
  return WRITABLE.has(element.role) ? null : `${describe(element)} takes no text.`;
}

function checkProblem(element: PageElement, checked: boolean): string | null {
  if (!isTicked(element.role)) return `${describe(element)} is not a box to tick.`;
  if (!checked && (element.role === 'radio' || element.role === 'menuitemradio'))
    return `${describe(element)} cannot be unchecked: choose another one.`;
  return null;
}

const isList = (element: PageElement): boolean =>
  isSelect(element) || element.role === 'combobox' || element.role === 'listbox';

/** If a list was truncated, an unknown option may exist. */
function optionProblem(element: PageElement, value: string): string | null {
  if (!isList(element)) return `${describe(element)} is not a list to choose from.`;
  const { options, optionText } = element;
  const none = `${describe(element)} has no option ${JSON.stringify(value.slice(0, 100))}.`;
  if (optionText !== undefined) return optionWithin(optionText, value) === null ? none : null;
  if (!options) return null;
  const wanted = folded(value);
  const option = options.find((each) => each.value === value || folded(each.text) === wanted);
  if (!option && hasMoreOptions(element)) return null;
  if (!option) return none;
  return option.disabled ? `The option ${JSON.stringify(option.text)} is disabled.` : null;
}

function isAddress(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null && (parsed.protocol === 'http:' || parsed.protocol === 'https:') && parsed.hostname !== ''
  );
}
