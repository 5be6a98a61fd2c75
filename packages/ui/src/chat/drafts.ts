/** Texts that have not been sent, kept until the tab is closed. `new` is that of a session that does not exist yet. */
import { readStorage, writeStorage } from '../state/storage.ts';

const nameOf = (draft: string): string => `parlance.draft.${draft}`;

export const readDraft = (draft: string): string => readStorage('session', nameOf(draft)) ?? '';

export const writeDraft = (draft: string, text: string): void =>
  writeStorage('session', nameOf(draft), text === '' ? null : text);

export function moveDraft(from: string, to: string): void {
  writeDraft(to, readDraft(from));
  writeDraft(from, '');
}
