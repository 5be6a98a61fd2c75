/** Renders an approval, the keys that answer it, and the answer. */
import type { ApprovalView } from '@parlance/sdk';
import { answerText, commandLine, grantText } from '@parlance/web/approval-text';
import { lexed } from '@parlance/web/lex';
import { broken, hanging, wrapped } from '../terminal/layout.ts';
import { markdownLines } from '../terminal/markdown.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { RenderContext } from './render-context.ts';
import { patchLines } from './render-patch.ts';

const NO_BREAK = '\u00a0';

/** Shows everything that would run, so that nothing hidden can be approved. */
export function askLines({ tool, ask }: ApprovalView, context: RenderContext): string[] {
  const { theme, width } = context;
  const inner = { ...context, width: width - 2 };
  const body =
    ask.patch === undefined
      ? hanging(broken(safeText(commandLine(ask.command)), width - 4), theme.bold('$ '), '  ')
      : patchLines(ask.patch, inner, ask);
  return [
    `${theme.yellow('●')} ${theme.bold('Needs approval')}  ${theme.cyan(safeLine(tool))}`,
    ...wrapped(safeText(ask.description), width - 2).map((line) => `  ${line}`),
    ...body.map((line) => `  ${line}`),
  ];
}

export function explanationLines(text: string, context: RenderContext): string[] {
  const { blocks } = lexed(null, text, true);
  const inner = markdownLines(blocks, { ...context, width: context.width - 4 });
  return inner.map((line) => `  ${context.theme.dim('│')} ${line}`);
}

/** The question: keys, and what "always" would allow. */
export function questionLines(
  { ask }: ApprovalView,
  context: RenderContext,
  isExplaining: boolean,
): string[] {
  const { theme, width } = context;
  // Keep a key on the same line as its label.
  const key = (letter: string, text: string) =>
    `${theme.bold(theme.yellow(letter))}${NO_BREAK}${text.replaceAll(' ', NO_BREAK)}`;
  const keys = [
    key('y', 'Allow once'),
    ...(ask.grant === undefined ? [] : [key('a', 'Always')]),
    key('n', 'Deny …'),
    isExplaining ? theme.dim('Asking the model for an explanation …') : key('e', 'Explain'),
  ];
  const lines = wrapped(keys.join('   '), width).map((line) => line.replaceAll(NO_BREAK, ' '));
  return [...lines, ...wrapped(theme.dim(grantLine(ask.grant)), width)];
}

function grantLine(grant: string | undefined): string {
  if (grant === undefined) return '“Always” is not available: it would allow more than this call.';
  const { what, exactly, runs } = grantText(grant);
  return `Always allow: ${what}${what && ' '}${safeLine(exactly)} ${runs} without asking for the rest of this session.`;
}

export function answerLines({ state }: ApprovalView, { theme, width, principal }: RenderContext): string[] {
  const here = state.status === 'answered' && state.by === principal && state.dialect === 'native';
  const text = answerText(state, here);
  if (text === null) return [];
  const isAllowed = state.status === 'answered' && state.answer !== 'deny';
  return wrapped(`  ${isAllowed ? theme.green('✓') : theme.red('✗')} ${theme.dim(safeText(text))}`, width);
}
