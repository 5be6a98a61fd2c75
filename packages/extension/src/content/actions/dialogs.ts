/**
 * Dialogs of the page. A script cannot wait for an answer, so a dialog is dismissed at once. To accept it, the action that opened
 * it is executed again, with the answer in place.
 */
import type { PageAction, PageDialog } from '../../messages.ts';
import { PageFailure } from '../page-error.ts';
import { sendToPage } from '../page-world.ts';

/** The action that opened dialogs, and the dialogs. */
let opened: { readonly action: PageAction; readonly dialogs: readonly PageDialog[] } | null = null;
/** what `type` entered into a prompt */
let entered: string | null = null;
/** the next dialog is accepted, with this text */
let prepared: { readonly text: string | null } | null = null;

/** Called after an action, with the dialogs that it opened. */
export function noteDialogs(action: PageAction, dialogs: readonly PageDialog[]): void {
  if (dialogs.length === 0) return;
  if (prepared) {
    prepared = null;
    return;
  }
  opened = { action: opened && isAnswer(action) ? opened.action : action, dialogs };
}

export const isAnswer = ({ name }: PageAction): boolean =>
  name === 'acceptDialog' || name === 'dismissDialog';

/** The action that `acceptDialog` would execute again. */
export const repeatedAction = (): PageAction | null => opened?.action ?? null;

/** The dialogs that wait for an answer, as the user would see them. */
export const openDialogs = (): readonly PageDialog[] => opened?.dialogs ?? [];

/** Text for a prompt that is open; false if there is none. */
export function enterIntoPrompt(text: string): boolean {
  if (!opened?.dialogs.some(({ type }) => type === 'prompt')) return false;
  entered = text;
  return true;
}

/** How dialogs of the action that begins are answered. */
export const answerFor = (): { readonly accept: boolean; readonly text: string | null } => ({
  accept: prepared !== null,
  text: prepared?.text ?? null,
});

/** The action that opened the dialog cannot be repeated as it is: its menu has closed. */
export function acceptNext(text: string | null): void {
  prepared = { text };
}

export function forgetDialogs(): void {
  opened = null;
  entered = null;
}

/** Returns the action to execute again, and what was entered; null if nothing has to be done. */
export function accept(): { readonly action: PageAction; readonly text: string | null } | null {
  const { action, dialogs } = open();
  const text = entered;
  forgetDialogs();
  if (dialogs.every(({ type }) => type === 'alert')) return null;
  sendToPage({ type: 'begin', accept: true, text });
  return { action, text };
}

export function dismiss(): void {
  open();
  forgetDialogs();
}

function open(): NonNullable<typeof opened> {
  if (!opened) throw new PageFailure('NO_DIALOG', 'No dialog is open.');
  return opened;
}
