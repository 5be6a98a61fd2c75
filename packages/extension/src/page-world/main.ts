/**
 * Runs in the page's own world: answers `alert`, `confirm` and `prompt` at once, reports blocked popups, and counts requests
 * that are under way. Until the content script activates it, it only takes note of listeners.
 */
import { TO_PAGE, type ToPage } from '../page-channel.ts';
import { recordListeners, reportPressable } from './listeners.ts';
import { patch } from './patch.ts';
import { state } from './state.ts';

const INSTALLED = Symbol.for('parlance.page-world');

function receive(event: Event): void {
  const message = JSON.parse(String((event as CustomEvent).detail)) as ToPage;
  if (message.type === 'pressable') reportPressable(document);
  else if (message.type === 'active') state.active = message.on;
  else {
    state.accept = message.accept;
    state.text = message.text;
    state.generation++;
    state.pending = 0;
  }
  if (state.active) patch(window);
}

if (!(INSTALLED in window)) {
  Object.defineProperty(window, INSTALLED, { value: true });
  recordListeners(window);
  document.addEventListener(TO_PAGE, receive);
}
