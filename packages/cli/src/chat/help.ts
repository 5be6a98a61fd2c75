/** `/help`: commands and keys. */
import { padded } from '../terminal/layout.ts';
import type { RenderContext } from './render-context.ts';
import { COMMANDS } from './slash.ts';

const KEYS = [
  ['Enter', 'send; while a turn runs, queue'],
  ['Alt-Enter, Ctrl-J, \\ Enter', 'new line'],
  ['Esc, Ctrl-C', 'interrupt the turn; Ctrl-C twice leaves'],
  ['y, a, n, e', 'allow once, always, deny with a reason, explain; typed on, a message'],
  ['↑ ↓', 'queued message, earlier messages'],
  ['@path', 'attach an image or a text file; Tab completes'],
  ['Ctrl-O', 'expand the last collapsed reasoning or output; again: the one before'],
  ['Ctrl-L', 'clear the screen'],
  ['Ctrl-Z', 'suspend'],
  ['Ctrl-D', 'leave'],
] as const;

export function helpLines({ theme }: RenderContext): string[] {
  const rows = [...COMMANDS.map(({ label, about }) => [label, about] as const), ['', ''] as const, ...KEYS];
  const column = Math.max(...rows.map(([name]) => name.length));
  return [
    '',
    theme.bold('Commands and keys'),
    ...rows.map(([name, about]) => (name === '' ? '' : `  ${theme.cyan(padded(name, column))}  ${about}`)),
  ];
}
