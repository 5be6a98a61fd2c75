/** `type` and `press`: keys go to the focused element, and do there what a browser would do. */

import { isReadOnly } from '../dom/disabled.ts';
import { activeElement } from '../dom/flat-tree.ts';
import { isEditingHost, isInput, isTextArea, isTextInput } from '../dom/kinds.ts';
import { insertText, sendChange } from '../events/editing.ts';
import { characterKey, keyNamed, sendKey } from '../events/keyboard.ts';
import { PageFailure } from '../page-error.ts';
import { expectReaction } from '../settle.ts';
import { defaultAction, type Edited } from './key-defaults.ts';
import { frames } from './reach.ts';

/** Beyond this length text is inserted at once instead of key by key. */
const MAX_KEYS = 500;

const focused = (): HTMLElement => activeElement(document) ?? document.body;

const takesText = (element: Element): boolean =>
  isTextInput(element) ||
  isTextArea(element) ||
  isEditingHost(element) ||
  (element as HTMLElement).isContentEditable;

export async function type(text: string): Promise<void> {
  if (!takesText(focused()))
    throw new PageFailure('NOT_EDITABLE', 'No field has the focus: click or focus a field first.');
  if (isReadOnly(focused())) throw new PageFailure('NOT_EDITABLE', 'The focused field is read-only.');
  if ([...text].length > MAX_KEYS) insertText(focused(), text);
  else for (const character of text) await typeCharacter(character);
  const target = focused();
  if (isInput(target)) expectReaction();
  if (isInput(target) || isTextArea(target)) sendChange(target);
}

export async function typeCharacter(character: string): Promise<void> {
  const target = focused();
  if (character === '\n') {
    await press('Enter');
    return;
  }
  const key = characterKey(character);
  const down = sendKey(target, 'keydown', key) && sendKey(target, 'keypress', key);
  // A listener may have moved the focus.
  const receiver = focused();
  if (down && takesText(receiver)) insertText(receiver, character);
  sendKey(focused(), 'keyup', key);
}

/** Shortcuts for selecting, copying and pasting return what they did. */
export async function press(name: string): Promise<Edited | undefined> {
  const key = keyNamed(name);
  if (!key)
    throw new PageFailure(
      'UNSUPPORTED',
      `${JSON.stringify(name.slice(0, 40))} is not a key: use names such as Enter, Tab, Escape, ArrowDown or Control+A.`,
    );
  const target = focused();
  const printable = [...key.key].length === 1 || key.key === 'Enter';
  let down = sendKey(target, 'keydown', key);
  if (down && printable && !key.ctrlKey && !key.metaKey) down = sendKey(target, 'keypress', key);
  try {
    return down ? defaultAction(target, key) : undefined;
  } finally {
    sendKey(focused(), 'keyup', key);
    await frames(1);
  }
}
