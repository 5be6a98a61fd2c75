/**
 * A click of a script on something that opens a tab is stopped by the popup blocker: the background worker opens the tab
 * instead. On the window and in the bubbling phase, so that listeners of the page come first.
 */
import { destinationOf } from './dom/kinds.ts';
import { noteOpened } from './page-world.ts';

export function catchNewTabs(): void {
  window.addEventListener('click', (event) => {
    if (event.isTrusted || event.defaultPrevented) return;
    const link = event.composedPath().find((each) => (each as Element).localName === 'a') as
      | Element
      | undefined;
    const address = link && destinationOf(link);
    if (!address || !opensTab(link.getAttribute('target'))) return;
    event.preventDefault();
    noteOpened(address);
  });
  window.addEventListener('submit', (event) => {
    if (event.defaultPrevented || navigator.userActivation.isActive) return;
    const address = addressAfter(event);
    if (address === null) return;
    event.preventDefault();
    noteOpened(address);
  });
}

/** Of a form that shows its result in a new tab; null for others, and for forms that post. */
function addressAfter({ target, submitter }: SubmitEvent): string | null {
  const form = target as HTMLFormElement;
  const given = (name: string): string | null =>
    submitter?.getAttribute(`form${name}`) ?? form.getAttribute(name);
  if (!opensTab(given('target')) || /^(?:post|dialog)$/i.test(given('method') ?? '')) return null;
  const address = URL.parse(given('action') ?? '', form.ownerDocument.baseURI);
  if (!address) return null;
  const fields = [...new FormData(form, submitter)].filter(
    (field): field is [string, string] => typeof field[1] === 'string',
  );
  address.search = new URLSearchParams(fields).toString();
  return address.href;
}

/** Without a target of its own, that of the page counts. */
function opensTab(own: string | null): boolean {
  const target = own ?? document.querySelector('base[target]')?.getAttribute('target') ?? '';
  return target !== '' && !/^_(?:self|parent|top)$/i.test(target) && !hasFrame(target);
}

const hasFrame = (name: string): boolean =>
  document.querySelector(`iframe[name="${CSS.escape(name)}"]`) !== null;
