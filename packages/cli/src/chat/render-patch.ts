/** Renders a patch as coloured lines. Drops no text: a line that does not parse is shown unchanged. */
import {
  filesOf,
  type Line,
  type PatchedFile,
  type Run,
} from '@parlance/ui/components/approval/patch-rows.ts';
import { broken, hanging } from '../terminal/layout.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Style, Theme } from '../terminal/theme.ts';
import type { RenderContext } from './render-context.ts';

const CHANGES = { add: 'Add', update: 'Update', delete: 'Delete', unknown: '' } as const;

export type PatchNotes = { readonly replaces?: readonly string[] | undefined };

export function patchLines(
  patch: string,
  context: RenderContext,
  { replaces = [] }: PatchNotes = {},
): string[] {
  return filesOf(patch).flatMap((file, index) => [
    ...(index === 0 ? [] : ['']),
    ...headLines(file, replaces, context),
    ...file.runs.flatMap((run) => runLines(run, context)),
  ]);
}

function headLines(
  file: PatchedFile,
  replaces: readonly string[],
  { theme, width }: RenderContext,
): string[] {
  if (file.change === 'unknown') return [];
  const name = file.moveTo === null ? file.path : `${file.path} → ${file.moveTo}`;
  const counts = `${theme.green(`+${file.added}`)} ${theme.red(`-${file.removed}`)}`;
  const warning = replaces.includes(file.path) ? theme.yellow(' replaces an existing file') : '';
  return broken(`${theme.bold(`${CHANGES[file.change]} ${safeText(name)}`)}  ${counts}${warning}`, width);
}

function runLines(run: Run, { theme, width }: RenderContext): string[] {
  const room = Math.max(4, width - 2);
  const lines = (sign: string, line: Line, style: Style) =>
    hanging(broken(marked(line, theme), room), `${sign} `, '  ').map(style);
  switch (run.kind) {
    case 'hunk':
      return broken(theme.cyan(`@@ ${safeText(run.text)}`), width);
    case 'note':
      return broken(theme.cyan(safeText(run.text)), width);
    case 'keep':
      return run.lines.flatMap((line) => hanging(broken(safeText(line), room), '  ', '  '));
    case 'change':
      return [
        ...run.removed.flatMap((line) => lines('-', line, theme.red)),
        ...run.added.flatMap((line) => lines('+', line, theme.green)),
      ];
  }
}

/** Underlines the difference within a line. */
function marked({ text, mark }: Line, theme: Theme): string {
  if (mark === null) return safeText(text);
  const [from, to] = mark;
  return (
    safeText(text.slice(0, from)) + theme.underline(safeText(text.slice(from, to))) + safeText(text.slice(to))
  );
}
