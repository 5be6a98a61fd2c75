/** Browser tools of the extension contract. */
import type { PageTool } from '../messages.ts';
import { setValue } from './actions/fill.ts';
import { click } from './actions/pointer.ts';
import { frames, rendered } from './actions/reach.ts';
import { selectDropdown } from './actions/select.ts';
import { rootsIn } from './dom/flat-tree.ts';
import { isSecret, withoutCardNumbers } from './dom/secrets.ts';
import { numberOf } from './numbers.ts';
import { PageFailure } from './page-error.ts';
import { beginObserving } from './settle.ts';

const MAX_LENGTH = 100_000;

export async function runTool(tool: PageTool, parameters: Parameters): Promise<unknown> {
  beginObserving();
  switch (tool) {
    case 'extract_page_content':
      return extract(parameters);
    case 'get_selected_text':
      return selectedText();
    case 'scroll_to_element':
      return await scrollTo(textIn(parameters, 'selector'));
    case 'dom_manipulation':
      return await manipulate(parameters);
    case 'storage_access':
      return access(parameters);
  }
}

function extract(parameters: Parameters) {
  const element =
    parameters.selector === undefined ? document.body : elementSelected(textIn(parameters, 'selector'));
  const content = isSecret(element)
    ? ''
    : withoutCardNumbers((element.innerText ?? element.textContent ?? '').slice(0, MAX_LENGTH));
  return { title: document.title, content, url: location.href, isSelection: false };
}

function selectedText() {
  const active = document.activeElement as HTMLInputElement | null;
  const { selectionStart: start = null, selectionEnd: end = null } =
    active && 'value' in active ? active : {};
  const inField = active && start !== null && end !== null && end > start && !isSecret(active);
  const text = inField ? active.value.slice(start, end) : (document.getSelection()?.toString() ?? '');
  const content = withoutCardNumbers(text.slice(0, MAX_LENGTH));
  return { title: document.title, content, url: location.href, isSelection: true };
}

async function scrollTo(selector: string) {
  const element = elementSelected(selector);
  element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  await frames(2);
  return { scrolled: true, url: location.href };
}

async function manipulate(parameters: Parameters) {
  const element = elementSelected(textIn(parameters, 'selector'));
  const id = numberOf(element);
  switch (parameters.action) {
    case 'click':
      await click(id);
      break;
    case 'type':
      await setValue(id, textIn(parameters, 'value'));
      break;
    case 'select':
      await selectDropdown(id, textIn(parameters, 'value'));
      break;
    case 'submit':
      await submit(element);
      break;
    default:
      throw new PageFailure('UNSUPPORTED', 'The action must be click, type, select or submit.');
  }
  return { done: true, url: location.href };
}

async function submit(element: HTMLElement): Promise<void> {
  const form = element.closest('form');
  if (!form) throw new PageFailure('UNSUPPORTED', 'The element is not part of a form.');
  const button = form.querySelector<HTMLElement>('button:not([type]), [type=submit], [type=image]');
  if (!button) return form.requestSubmit();
  rendered(numberOf(button));
  await click(numberOf(button));
}

function access(parameters: Parameters) {
  const key = textIn(parameters, 'key');
  if (parameters.action === 'set') localStorage.setItem(key, textIn(parameters, 'value'));
  else if (parameters.action === 'remove') localStorage.removeItem(key);
  else if (parameters.action !== 'get')
    throw new PageFailure('UNSUPPORTED', 'The action must be get, set or remove.');
  return { key, value: localStorage.getItem(key)?.slice(0, MAX_LENGTH) ?? null };
}

// Parameters of browser tools. They come from a model, so nothing about them is certain.

export type Parameters = Readonly<Record<string, unknown>>;

export function textIn(parameters: Parameters, name: string): string {
  const value = parameters[name];
  if (typeof value !== 'string') throw new PageFailure('INVALID_VALUE', `The parameter ${name} is missing.`);
  return value;
}

/** Also in frames of the same origin and in shadow roots. */
export function elementSelected(selector: string): HTMLElement {
  try {
    for (const root of rootsIn(document)) {
      const found = root.querySelector<HTMLElement>(selector);
      if (found) return found;
    }
  } catch {
    throw new PageFailure(
      'INVALID_VALUE',
      `${JSON.stringify(selector.slice(0, 200))} is not a CSS selector.`,
    );
  }
  throw new PageFailure(
    'ELEMENT_NOT_FOUND',
    `Nothing on the page matches ${JSON.stringify(selector.slice(0, 200))}.`,
  );
}
