/** The content script of a tab. It can be injected more than once. */
import type { ContentRequest } from '../messages.ts';
import { handle } from './handle.ts';
import { catchNewTabs, listenToPage } from './page-world.ts';
import { watchNetwork } from './settle.ts';

const INSTALLED = Symbol.for('parlance.content');

function install(): void {
  listenToPage();
  watchNetwork();
  catchNewTabs();
  const stop = (): void => void chrome.runtime.sendMessage({ kind: 'stop' });
  chrome.runtime.onMessage.addListener((request: ContentRequest, sender, respond) => {
    if (sender.id !== chrome.runtime.id) return false;
    void handle(request, stop).then(respond);
    return true;
  });
}

if (!(INSTALLED in globalThis)) {
  Object.defineProperty(globalThis, INSTALLED, { value: true });
  install();
}
