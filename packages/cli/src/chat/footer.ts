/** Everything below the conversation: question, activity, plan, queue, input field and status. */
import { pathText } from '@parlance/protocol/question-text';
import {
  type About,
  type ApprovalView,
  type ConnectionState,
  currentTurn,
  type PlanView,
  type QuestionView,
  type SessionView,
  subAgentsOf,
} from '@parlance/sdk';
import { type Draft, fieldFrame } from '../terminal/editor.ts';
import { cut, padded, spread, widthOf } from '../terminal/layout.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Frame } from '../terminal/screen.ts';
import type { Letter } from './approvals.ts';
import type { MenuChoice } from './composer.ts';
import type { ChatSettings } from './conversation.ts';
import { approvalKeys, approvalLines, askedLines, queuedLine, type RenderContext } from './render.ts';

export type Footer = {
  readonly about: About;
  readonly view: SessionView;
  readonly settings: ChatSettings;
  readonly state: ConnectionState;
  readonly draft: Draft;
  readonly choices: readonly MenuChoice[];
  readonly chosen: number;
  /** a reason for a denial is being typed */
  readonly denying: boolean;
  /** the question of the agent that is shown */
  readonly question: QuestionView | null;
  /** the text in the field answers it */
  readonly answering: boolean;
  readonly explaining: boolean;
  /** the letter that answers the question in a moment */
  readonly held: Letter | null;
  /** the answer that the arrow keys have moved to */
  readonly selected: Letter | null;
  /** a message is being sent */
  readonly sending: boolean;
  readonly hint: string;
  readonly now: number;
};

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const SPINNER_MS = 100;
const MAX_QUEUED = 3;

export function footerFrame(live: readonly string[], footer: Footer, context: RenderContext): Frame {
  const { theme, width, height } = context;
  const field = fieldFrame(footer.draft, {
    prompt: footer.denying
      ? theme.red('Reason (optional) ❯ ')
      : theme.bold(theme.cyan(footer.answering ? 'Answer ❯ ' : '❯ ')),
    width,
    rows: Math.max(2, Math.floor(height / 3)),
  });
  const menu = menuLines(footer, context);
  const after = [...menu, statusLine(footer, context)];
  const activity = activityLines(footer, context);
  const answers = isAnswering(footer) ? approvalLines(footer.view.pending, context, footer) : null;
  const prompt = answers ?? placeholder(field.lines, footer, context);
  const room = Math.max(1, height - 1 - activity.length - prompt.length - after.length - 1);
  const shown = live.length > room ? live.slice(-room) : live;
  const before = [...shown, ...activity, theme.dim('─'.repeat(width))];
  return {
    lines: [...before, ...prompt, ...after],
    cursor: answers
      ? null
      : field.cursor && { row: before.length + field.cursor.row, column: field.cursor.column },
  };
}

type Answering = Footer & { readonly view: { readonly pending: ApprovalView } };

/** The answers of an approval take the place of the field until a message is typed. */
const isAnswering = (footer: Footer): footer is Answering =>
  footer.view.pending !== null && !footer.denying && (footer.draft.text === '' || footer.held !== null);

function placeholder(
  lines: readonly string[],
  { draft, denying, answering, view }: Footer,
  { theme, width }: RenderContext,
): string[] {
  if (draft.text !== '' || denying) return [...lines];
  const text = answering
    ? 'number, label or text'
    : currentTurn(view)
      ? 'Enter queues, Ctrl-S steers, Esc stops'
      : 'Send a message, or / for commands, @ for files';
  return lines.map((line) => cut(`${line}${theme.dim(text)}`, width));
}

function activityLines(footer: Footer, context: RenderContext): string[] {
  const { view, denying } = footer;
  const { theme, width, height } = context;
  const turn = currentTurn(view);
  const asked = footer.question ? askedLines(footer.question, context) : [];
  const question =
    view.pending && !denying && !isAnswering(footer) ? approvalKeys(view.pending, context) : asked;
  const working = turn && !view.pending && !footer.question ? [cut(workingLine(footer, context), width)] : [];
  const sending = footer.sending && (!turn || footer.state.status !== 'live') ? [theme.dim('Sending …')] : [];
  const queue = view.queued.map((input) =>
    cut(theme.dim(`${input.joins ? 'Joins the turn' : 'Queued'}: ${queuedLine(input)}`), width),
  );
  const more = queue.length > MAX_QUEUED ? [theme.dim(`… ${queue.length - MAX_QUEUED} more queued`)] : [];
  const plan = view.plan && turn ? planLines(view.plan, context, height >= 20) : [];
  const edit = queue.length > 0 && footer.draft.text === '' ? [theme.dim('↑ edits the last one')] : [];
  const waiting = [...more, ...queue.slice(-MAX_QUEUED), ...edit];
  const lines = [...working, ...sending, ...plan, ...backgroundLines(footer, context), ...waiting];
  // The question is next to the field.
  return [lines, question].flatMap((part) => (part.length === 0 ? [] : ['', ...part]));
}

function workingLine({ view, now }: Footer, { theme }: RenderContext): string {
  const turn = currentTurn(view);
  const seconds = Math.max(0, Math.floor((now - (turn?.at ?? now)) / 1_000));
  const mark = SPINNER[Math.floor(now / SPINNER_MS) % SPINNER.length] ?? '';
  const writing = turn?.writing.at(-1);
  const what = writing ? `preparing a call to ${safeLine(writing.tool)}` : 'is working';
  return `${theme.cyan(mark)} ${safeLine(turn?.agent.name ?? '')} ${what}${theme.dim(` · ${seconds} s · Esc interrupts`)}`;
}

const MAX_SUB_AGENTS = 4;

/** Sub-agents that go on after their call: the others are lines of the conversation. */
function backgroundLines({ view, now }: Footer, { theme, width }: RenderContext): string[] {
  const working = subAgentsOf(view).filter(({ background, status }) => background && status !== 'done');
  const mark = SPINNER[Math.floor(now / SPINNER_MS) % SPINNER.length] ?? '';
  const lines = working
    .slice(0, MAX_SUB_AGENTS)
    .map(({ path }) => cut(`${theme.cyan(mark)} ${safeLine(pathText(path))} works in the background`, width));
  const left = working.length - lines.length;
  return [...lines, ...(left > 0 ? [theme.dim(`… ${left} more in the background`)] : [])];
}

const STEPS = { completed: '✓', in_progress: '▸', pending: '○' } as const;
const MAX_STEPS = 8;

function planLines({ steps }: PlanView, { theme, width }: RenderContext, expanded: boolean): string[] {
  if (steps.length === 0) return [];
  const done = steps.filter(({ status }) => status === 'completed').length;
  const current = steps.find(({ status }) => status === 'in_progress');
  const isOpen = expanded && steps.length <= MAX_STEPS;
  const title = `Plan: ${done} of ${steps.length} done${current && !isOpen ? ` · ${safeLine(current.step)}` : ''}`;
  if (!isOpen) return [cut(title, width)];
  const line = ({ step, status }: (typeof steps)[number]) => {
    const text = cut(`  ${STEPS[status]} ${safeLine(step)}`, width);
    return status === 'completed'
      ? theme.green(text)
      : status === 'pending'
        ? theme.dim(text)
        : theme.bold(text);
  };
  return [title, ...steps.map(line)];
}

function menuLines({ choices, chosen }: Footer, { theme, width, height }: RenderContext): string[] {
  const rows = Math.max(2, Math.min(8, Math.floor(height / 3)));
  const first = Math.max(0, chosen - rows + 1);
  const shown = choices.slice(first, first + rows);
  const column = Math.min(30, Math.max(0, ...shown.map(({ label }) => widthOf(label))));
  return shown.map(({ label, about }, index) => {
    const line = cut(
      `  ${padded(cut(safeLine(label), column), column)}  ${theme.dim(safeLine(about))}`,
      width,
    );
    return first + index === chosen ? theme.inverse(line) : line;
  });
}

function statusLine(footer: Footer, { theme, width }: RenderContext): string {
  const { about, settings, view, hint } = footer;
  const agent = about.agents.find(({ id }) => id === settings.agent);
  const mode = settings.approval ?? about.approval;
  const percent = view.context && Math.min(100, Math.round((view.context.tokens / view.context.limit) * 100));
  const fallback = view.entries.findLast((entry) => entry.kind === 'turn')?.fallback;
  const model = safeLine(settings.model ?? agent?.model ?? about.model);
  const parts = [
    fallback === undefined ? model : theme.yellow(`${safeLine(fallback)} instead of ${model}`),
    mode === 'full-auto' ? theme.yellow(mode) : mode,
    agent && about.agents.length > 1 ? safeLine(agent.name) : '',
    percent === null ? '' : `${percent}% context`,
  ];
  const left = hint === '' ? theme.dim(parts.filter(Boolean).join(' · ')) : theme.yellow(hint);
  return spread(left, connectionText(footer, theme), width);
}

function connectionText({ state, now, view }: Footer, theme: RenderContext['theme']): string {
  switch (state.status) {
    case 'live':
      return theme.dim(cut(safeLine(view.title), 40));
    case 'connecting':
      return theme.yellow(state.failures > 0 ? 'Reconnecting …' : 'Connecting …');
    case 'waiting':
      return theme.yellow(
        `Not connected: next try in ${Math.max(0, Math.ceil((state.retryAt - now) / 1_000))} s`,
      );
    case 'closed':
      return theme.red('Closed');
  }
}
