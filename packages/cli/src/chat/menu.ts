/** What can be completed: commands after a slash, files after an at sign. */
import type { About } from '@parlance/sdk';
import type { Draft } from '../terminal/editor.ts';
import { fileChoices } from './attach.ts';
import type { MenuChoice } from './composer.ts';
import { commandChoices } from './slash.ts';

export function menuChoices({ text, cursor }: Draft, about: About): MenuChoice[] {
  const files = fileChoices(text, cursor).map(({ label, ...draft }) => ({
    draft,
    label,
    about: '',
    complete: false,
  }));
  return [...commandChoices(text, about), ...files];
}
