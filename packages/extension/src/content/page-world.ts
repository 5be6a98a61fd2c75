/** The content script's end of the channel to the page's own world, and the tabs that the page opens. */
import { parsedObject } from '@parlance/protocol/json-text';
import { FROM_PAGE, type FromPage, type PageDialog, TO_PAGE, type ToPage } from '../messages.ts';
import { destinationOf } from './dom/kinds.ts';

const MAX_ENTRIES = 20;
const MAX_LENGTH = 2_000;

/** What the page reported since the last action. */
export const reported = {
  dialogs: [] as PageDialog[],
  openedUrls: [] as string[],
  openedTabs: [] as string[],
  pending: 0,
  requests: 0,
  captured: false,
};

/** To the world of a frame, if it has its own script. */
export function sendToPage(message: ToPage, target: Node = document): void {
  target.dispatchEvent(new CustomEvent(TO_PAGE, { detail: JSON.stringify(message) }));
}

export function resetReported(): void {
  reported.dialogs = [];
  reported.openedUrls = [];
  reported.openedTabs = [];
  reported.pending = 0;
  reported.requests = 0;
  reported.captured = false;
}

function noteOpened(url: string): void {
  if (/^https?:/i.test(url) && reported.openedUrls.length < MAX_ENTRIES && !reported.openedUrls.includes(url))
    reported.openedUrls.push(url.slice(0, MAX_LENGTH));
}

export function listenToPage(): void {
  document.addEventListener(FROM_PAGE, (event) => {
    const message = parsed((event as CustomEvent).detail);
    if (message?.type === 'dialog' && reported.dialogs.length < MAX_ENTRIES) {
      const { type, message: text } = message.dialog;
      reported.dialogs.push({ type, message: String(text).slice(0, MAX_LENGTH) });
    }
    if (message?.type === 'capture') reported.captured = true;
    if (message?.type === 'open') noteOpened(String(message.url));
    if (message?.type === 'opened' && reported.openedTabs.length < MAX_ENTRIES)
      reported.openedTabs.push(String(message.url).slice(0, MAX_LENGTH));
    if (message?.type === 'network') {
      reported.pending = Math.max(0, Math.min(1_000, Number(message.pending) || 0));
      reported.requests++;
    }
  });
}

function parsed(detail: unknown): FromPage | null {
  // biome-ignore lint/suspicious/noExplicitAny: the page can send anything
  const message: any = parsedObject(String(detail));
  return message?.type === 'dialog' && !['alert', 'confirm', 'prompt'].includes(message.dialog?.type)
    ? null
    : message;
}

// A click of a script on something that opens a tab is stopped by the popup blocker: the background worker opens the tab
// instead. On the window and in the bubbling phase, so that listeners of the page come first.

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
