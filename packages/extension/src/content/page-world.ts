/** The content script's end of the channel to the page's own world. */
import type { PageDialog } from '../messages.ts';
import { FROM_PAGE, type FromPage, TO_PAGE, type ToPage } from '../page-channel.ts';

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

export function noteOpened(url: string): void {
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
  try {
    const message = JSON.parse(String(detail));
    if (typeof message !== 'object' || message === null) return null;
    if (message.type === 'dialog' && !['alert', 'confirm', 'prompt'].includes(message.dialog?.type))
      return null;
    return message;
  } catch {
    return null;
  }
}
