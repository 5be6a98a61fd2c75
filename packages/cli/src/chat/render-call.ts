/** Renders a tool call: its effect, approval, progress and output. */
import type { Part } from '@parlance/protocol';
import type { ApprovalView, CallState, CallView } from '@parlance/sdk';
import { duration } from '@parlance/ui/chat/cost.ts';
import { broken, cut, spread, wrapped } from '../terminal/layout.ts';
import { safeLine, safeOutput, safeText } from '../terminal/safe-text.ts';
import type { Style, Theme } from '../terminal/theme.ts';
import { answerLines, askLines, explanationLines } from './render-approval.ts';
import type { FinalPart, RenderContext, Rendered } from './render-context.ts';
import { patchLines } from './render-patch.ts';

type Ended = Extract<CallState, { phase: 'ended' }>;

/** Number of output lines; `Ctrl-O` shows the rest. */
const MAX_LINES = 8;
/** Only this much of a long output is scanned for them. */
const MAX_CHARACTERS = 20_000;

const OUTCOMES: Readonly<Record<Ended['outcome'], { text: string; style: keyof Theme }>> = {
  ok: { text: 'Done', style: 'green' },
  failed: { text: 'Failed', style: 'red' },
  denied: { text: 'Denied', style: 'red' },
  aborted: { text: 'Stopped', style: 'dim' },
  unknown: { text: 'Outcome unknown', style: 'red' },
};

const PHASES: Readonly<Record<Exclude<CallState['phase'], 'ended'>, string>> = {
  requested: 'Requested',
  waiting: 'Waiting for approval',
  allowed: 'Allowed',
  running: 'Running',
  deferred: 'Waiting for the client',
};

export function renderCall(call: CallView, context: RenderContext): Rendered {
  const { approval, state } = call;
  const parts: FinalPart[] = approval ? approvalParts(approval, context) : [];
  // Already stated by the answer.
  if (approval && state.phase === 'ended' && state.outcome === 'denied')
    return { parts, live: [], complete: true };
  if (state.phase === 'ended') {
    const lines = [headLine(call, context), ...changeLines(call, context), ...outputLines(state, context)];
    parts.push({ key: 'end', lines, joined: approval !== null });
    return { parts, live: [], complete: true };
  }
  const isAsked = approval?.state.status === 'pending';
  return {
    parts,
    live: isAsked ? [] : [headLine(call, context), ...progressLines(state, context)],
    complete: false,
  };
}

function approvalParts(approval: ApprovalView, context: RenderContext): FinalPart[] {
  const parts: FinalPart[] = [{ key: 'ask', lines: askLines(approval, context) }];
  for (const [index, text] of approval.explanations.entries())
    parts.push({ key: `explanation ${index}`, lines: explanationLines(text, context) });
  if (approval.state.status !== 'pending')
    parts.push({ key: 'answer', lines: answerLines(approval, context), joined: true });
  return parts;
}

function headLine(call: CallView, { theme, width }: RenderContext): string {
  const { style, text } = stateOf(call.state, theme);
  const name = `${style('●')} ${theme.bold(safeLine(call.tool))}`;
  const what = safeLine(callSummary(call));
  return spread(what === '' ? name : `${name}  ${what}`, style(text), width);
}

function stateOf(state: CallState, theme: Theme): { readonly text: string; readonly style: Style } {
  if (state.phase !== 'ended') return { text: PHASES[state.phase], style: theme.yellow };
  const { text, style } = OUTCOMES[state.interrupted ? 'aborted' : state.outcome];
  const untrusted = state.untrusted ? 'untrusted content · ' : '';
  return { text: `${untrusted}${text} · ${duration(state.durationMs)}`, style: theme[style] };
}

/** The main argument of the call: command, path or query. */
export function callSummary({ input, approval }: Pick<CallView, 'input' | 'approval'>): string {
  const { command } = input;
  if (Array.isArray(command)) return command.join(' ');
  for (const key of ['command', 'path', 'query', 'url', 'pattern', 'agent', 'text']) {
    const value = input[key];
    if (typeof value === 'string') return value.split('\n', 1)[0]?.slice(0, 200) ?? '';
  }
  return approval?.ask.description.slice(0, 200) ?? '';
}

/** The change of a call that needed no approval. */
function changeLines({ input, approval, malformed }: CallView, context: RenderContext): string[] {
  if (malformed !== undefined)
    return [`  Malformed input (not JSON): ${cut(safeLine(malformed), Math.max(10, context.width - 32))}`];
  if (approval || typeof input.patch !== 'string') return [];
  return patchLines(input.patch, { ...context, width: context.width - 2 }).map((line) => `  ${line}`);
}

function progressLines(state: CallState, { theme, width }: RenderContext): string[] {
  if (state.phase !== 'running' || !state.progress) return [];
  const { progress, message, status } = state.progress;
  const percent = progress === undefined ? '' : `${Math.round(progress <= 1 ? progress * 100 : progress)}% `;
  return [cut(theme.dim(`  │ ${percent}${safeLine(message ?? status ?? '')}`), width)];
}

function outputLines({ parts, said: answer }: Ended, context: RenderContext): string[] {
  const { theme, width } = context;
  const text = textOf(parts, context);
  const all = text === '' ? [] : broken(text.slice(0, MAX_CHARACTERS), width - 4);
  const count = text.length > MAX_CHARACTERS ? text.split('\n').length : all.length;
  const shown = all.slice(0, count > MAX_LINES + 1 ? MAX_LINES : MAX_LINES + 1);
  const more = count - shown.length;
  return [
    ...shown.map((line) => `  ${theme.dim('│')} ${line}`),
    ...(more > 0 ? [theme.dim(`  │ … ${more} more lines (Ctrl-O shows them)`)] : []),
    ...(answer === undefined ? [] : wrapped(`  User’s answer: “${safeText(answer)}”`, width)),
  ];
}

function textOf(parts: readonly Part[], { theme }: RenderContext): string {
  const hasColours = theme.red('x') !== 'x';
  return parts
    .map((part) => {
      if (part.type === 'page') return '';
      if (part.type === 'text') return safeOutput(part.text, hasColours).replace(/\n+$/, '');
      return theme.dim(
        part.type === 'image' ? `[image ${safeLine(part.mime)}]` : `[file ${safeLine(part.name)}]`,
      );
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** Complete input and output, for `Ctrl-O`. */
export function expandedCall(call: CallView, context: RenderContext): string[] {
  const { theme, width } = context;
  const input = JSON.stringify(call.input, null, 2);
  const output = call.state.phase === 'ended' ? textOf(call.state.parts, context) : '';
  const section = (title: string, text: string) =>
    text === '' || text === '{}'
      ? []
      : [theme.dim(title), ...broken(text, width - 2).map((line) => `  ${line}`)];
  return [headLine(call, context), ...section('Input', safeText(input)), ...section('Output', output)];
}
