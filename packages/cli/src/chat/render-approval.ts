/** Renders an approval, the keys that answer it, and the answer. */
import type { ApprovalView } from '@parlance/sdk';
import { answerText, commandLine, grantText } from '@parlance/ui/components/approval/approval-text.ts';
import { lexed } from '@parlance/ui/markdown/lex.ts';
import { broken, hanging, wrapped } from '../terminal/layout.ts';
import { markdownLines } from '../terminal/markdown.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Letter } from './approvals.ts';
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

const ANSWERS: Readonly<Record<Letter, string>> = {
  y: 'Allow once',
  a: 'Always',
  n: 'Deny …',
  e: 'Explain',
};

type Question = {
  readonly explaining: boolean;
  /** the letter that answers in a moment */
  readonly held: Letter | null;
};

/** The question: keys, and what "always" would allow, or what becomes of the letter that was typed. */
export function questionLines(
  { ask }: ApprovalView,
  { theme, width }: RenderContext,
  { explaining, held }: Question,
): string[] {
  // Keep a key on the same line as its label.
  const key = (letter: Letter) => {
    const label = `${NO_BREAK}${ANSWERS[letter].replaceAll(' ', NO_BREAK)}`;
    return letter === held ? theme.inverse(letter + label) : `${theme.bold(theme.yellow(letter))}${label}`;
  };
  const keys = [
    key('y'),
    ...(ask.grant === undefined ? [] : [key('a')]),
    key('n'),
    explaining ? theme.dim('Asking the model for an explanation …') : key('e'),
  ];
  const lines = wrapped(keys.join('   '), width).map((line) => line.replaceAll(NO_BREAK, ' '));
  const hint = held
    ? theme.yellow(`“${ANSWERS[held]}” is chosen: Enter confirms it now, Esc takes it back.`)
    : theme.dim(grantLine(ask.grant));
  return [...lines, ...wrapped(hint, width)];
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
