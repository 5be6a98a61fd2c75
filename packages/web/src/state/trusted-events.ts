/**
 * Only a person works in the console. Clicks, keys and choices that a script makes (a browser extension that an agent drives, for
 * example) have `isTrusted: false` and are stopped before any other listener of the page, so that no button, shortcut or form
 * needs a check of its own. Links still lead somewhere, and `input` events still fill fields (password managers use them):
 * neither answers an approval or saves a setting.
 */
import { toast } from '@parlance/ui/components/controls.tsx';

const ACTIVATING = [
  ...['click', 'auxclick', 'dblclick', 'contextmenu', 'mousedown', 'mouseup', 'pointerdown', 'pointerup'],
  ...['keydown', 'keypress', 'keyup', 'change', 'submit'],
];

/** A person acts in the current task: what our own code does then (`input.click()` for the file picker) is theirs. */
let isActing = false;

function check(event: Event): void {
  // The browser sends a trusted `submit` for `form.requestSubmit()` and for clicks of scripts.
  if (event.isTrusted && event.type !== 'submit') {
    isActing = true;
    setTimeout(() => {
      isActing = false;
    });
    return;
  }
  const { target } = event;
  // A file is only attached; the person still sends it.
  if (isActing || (target instanceof HTMLInputElement && target.type === 'file' && event.type === 'change'))
    return;
  event.stopImmediatePropagation();
  if (!(target instanceof Element && target.closest('a[href]'))) event.preventDefault();
  if (event.type === 'click' || event.type === 'submit')
    toast('A script tried to use this page. The console accepts only clicks and keys of a person.');
}

for (const type of ACTIVATING) addEventListener(type, check, true);
