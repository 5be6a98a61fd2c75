/** Renders rows of a conversation. Uses the wording of the console. */

import type { HistoryItem, Part } from '@parlance/protocol';
import { instructionsText } from '@parlance/protocol/instructions';
import { pathText, writtenQuestion } from '@parlance/protocol/question-text';
import { limitNotice } from '@parlance/protocol/spending';
import type {
  ApprovalView,
  BlockView,
  CallState,
  CallView,
  CompactionView,
  InputView,
  Item,
  QuestionView,
  TurnView,
} from '@parlance/sdk';
import { counted, duration, shortNumber } from '@parlance/ui/chat/cost.ts';
import { type Row, restartText, rewoundText } from '@parlance/ui/chat/rows.ts';
import { changedFiles, MIN_CALLS, type RunRow, runCounts, runText } from '@parlance/ui/chat/runs.ts';
import { answerText, commandLine, grantText } from '@parlance/ui/components/approval/approval.ts';
import { filesOf, type Line, type PatchedFile, type Run } from '@parlance/ui/components/approval/patch.ts';
import { type Lexed, lexed, settledCount } from '@parlance/ui/markdown/lex.ts';
import type { MarkedToken } from 'marked';
import { highlighting } from '../terminal/highlight.ts';
import { broken, cut, hanging, spread, widthOf, wrapped } from '../terminal/layout.ts';
import { blockLines, type MarkdownOptions, markdownLines } from '../terminal/markdown.ts';
import { safeLine, safeOutput, safeText } from '../terminal/safe-text.ts';
import type { Style, Theme } from '../terminal/theme.ts';
import type { Letter } from './approvals.ts';

export function renderRow(row: Row | RunRow, context: RenderContext): Rendered {
  switch (row.kind) {
    case 'run':
      return renderRun(row, context);
    case 'input':
      return final(inputLines(row.input, context));
    case 'queued':
    case 'sending':
    case 'paused':
    case 'working':
      return unfinished([]);
    case 'item':
      return renderItem(row.item, context);
    case 'between':
      if (row.entry.kind === 'cleared')
        return final(
          divider(
            `Context cleared by ${row.entry.by}. The model no longer sees the messages above.`,
            context,
          ),
        );
      if (row.entry.kind === 'rewound' && row.entry.isRestoring) return unfinished([]);
      if (row.entry.kind === 'rewound')
        return final(rewoundText(row.entry).flatMap((line) => divider(safeLine(line), context)));
      if (row.entry.kind === 'history') return final(historyLines(row.entry.items, context));
      return final(compactionLines(row.entry, context));
    case 'end':
      return final(endLines(row.turn, context));
  }
}

function renderItem(item: Item, context: RenderContext): Rendered {
  switch (item.kind) {
    case 'text':
      return renderText(item, context);
    case 'reasoning':
      return renderReasoning(item, context);
    case 'call':
      return renderCall(item, context);
    case 'input':
      return final(inputLines(item, context));
    case 'question':
      return renderQuestion(item, context);
    case 'handoff':
      return final(
        divider(
          `${item.from.name} handed over to ${item.to.name}${item.reason && `: ${item.reason}`}`,
          context,
        ),
      );
    case 'restart':
      return final(divider(restartText(item), context));
    case 'resumed':
      return final(divider('The server restarted and resumed the turn.', context));
    case 'instructions':
      return final(divider(instructionsText(item.files) || 'No project instructions.', context));
    case 'limit':
      return final(divider(limitNotice(item.limit), context));
    case 'compaction':
      return final(compactionLines(item, context));
  }
}

/** Final once it has ended. */
function renderQuestion(asked: QuestionView, { theme, width }: RenderContext): Rendered {
  const lines = asked.questions.flatMap(({ id, header, text }, index) => {
    const { state } = asked;
    const given = 'answers' in state ? (state.answers?.[id] ?? []) : [];
    const outcome = given.length > 0 ? given.map(safeLine).join(', ') : QUESTION_ENDS[state.status];
    return [
      ...(index === 0 && asked.title ? wrapped(safeLine(asked.title), width) : []),
      ...hanging(wrapped(`${theme.bold(safeLine(header))} ${safeText(text)}`, width - 2), '? ', '  '),
      ...(outcome === '' ? [] : hanging(wrapped(outcome, width - 4), '  → ', '    ').map(theme.dim)),
    ];
  });
  return asked.state.status === 'pending' ? unfinished([]) : final(lines);
}

/** The question that waits, with its options and how to answer. */
export function askedLines(asked: QuestionView, { theme, width }: RenderContext): string[] {
  const text = writtenQuestion({
    ...asked,
    questions: [...asked.questions],
    path: asked.path && [...asked.path],
    problem: asked.problem ?? undefined,
  });
  const [first = '', ...rest] = safeText(text).split('\n');
  const lines = hanging(wrapped(first, width - 2), '? ', '  ').map(theme.bold);
  return [
    ...lines,
    ...rest.flatMap((line) => (line === '' ? [] : hanging(wrapped(line, width - 2), '  ', '  '))),
  ];
}

const QUESTION_ENDS = {
  pending: '',
  answered: '(no answer)',
  declined: 'Declined',
  withdrawn: 'Withdrawn',
  lapsed: 'Not answered',
} as const;

const divider = (text: string, { theme, width }: RenderContext): string[] =>
  hanging(wrapped(safeLine(text), width - 2), '› ', '  ').map(theme.dim);

const compactionLines = ({ oldTokens, newTokens }: CompactionView, context: RenderContext): string[] =>
  divider(`Context compacted: ${shortNumber(oldTokens)} → ${shortNumber(newTokens)} tokens`, context);

const nameOf = (part: Part): string => {
  if (part.type === 'text') return safeText(part.text);
  if (part.type === 'page') return `[page ${safeLine(part.title || part.url)}]`;
  return part.type === 'image' ? '[image]' : `[${safeLine(part.name)}]`;
};

const inputText = (parts: readonly Part[]): string => parts.map(nameOf).join('\n');

function inputLines({ parts, call }: InputView, { theme, width }: RenderContext): string[] {
  const text = call ? `${call.tool} ${JSON.stringify(call.input)}` : inputText(parts);
  return hanging(wrapped(safeText(text), width - 2), theme.bold(theme.cyan('❯ ')), '  ');
}

/** For an input that is still queued. */
export const queuedLine = ({ parts }: InputView): string => safeLine(inputText(parts));

function historyLines(items: readonly HistoryItem[], context: RenderContext): string[] {
  return items.flatMap((item, index) => {
    const gap = index === 0 ? [] : [''];
    if (item.type === 'user')
      return [
        ...gap,
        ...hanging(wrapped(inputText(item.parts), context.width - 2), context.theme.bold('❯ '), '  '),
      ];
    if (item.type === 'text') return [...gap, ...markdownLines(lexed(null, item.text, true).blocks, context)];
    return [];
  });
}

const CANCELLED = {
  cancelled: 'Stopped',
  superseded: 'Interrupted by a new message',
  denied: 'Ended: a call was denied',
} as const;

function endLines(turn: TurnView, context: RenderContext): string[] {
  const { state, usage, fallback } = turn;
  const { theme, width } = context;
  const tokens = usage.inputTokens + usage.outputTokens;
  const used = `${shortNumber(usage.inputTokens)} in, ${shortNumber(usage.outputTokens)} out`;
  const line = [
    state.status === 'cancelled' ? CANCELLED[state.reason] : '',
    fallback === undefined ? '' : `answered by ${safeLine(fallback)}`,
    'durationMs' in state ? duration(state.durationMs) : '',
    tokens > 0 ? used : '',
  ];
  const failed = state.status === 'failed' ? wrapped(`✗ ${safeText(state.fault.message)}`, width) : [];
  const summary = line.filter(Boolean).join(' · ');
  return [
    ...failed.map(theme.red),
    ...changeSummary(turn, context),
    ...(summary === '' ? [] : [theme.dim(summary)]),
  ];
}

const MAX_CHANGED = 20;

/** The files that a turn changed. The only change of a short turn was shown by its call. */
function changeSummary(turn: TurnView, { theme, width }: RenderContext): string[] {
  const files = changedFiles(turn);
  const calls = turn.items.filter(({ kind }) => kind === 'call');
  if (files.length === 0 || calls.length < MIN_CALLS) return [];
  const lines = files.slice(0, MAX_CHANGED).map(({ path, added, removed }) => {
    const counts = [
      ...(added > 0 ? [theme.green(`+${added}`)] : []),
      ...(removed > 0 ? [theme.red(`−${removed}`)] : []),
    ];
    return spread(`  ${safeLine(path)}`, counts.join(' '), width);
  });
  const more = files.length - MAX_CHANGED;
  return [
    `${counted(files.length, 'file')} changed`,
    ...lines,
    ...(more > 0 ? [theme.dim(`  … and ${more} more`)] : []),
  ];
}

// Renders text of the agent. Blocks that further text cannot change are final while the rest is streamed.

/** Parsed blocks being streamed, one at a time. */
const read = new WeakMap<object, Lexed>();
let last: { readonly block: string; readonly lexed: Lexed } | null = null;

function tokensOf(block: BlockView): Lexed {
  const cached = read.get(block);
  if (cached) return cached;
  const before = last?.block === block.block ? last.lexed : null;
  const next = lexed(before, block.text, block.state !== 'open');
  read.set(block, next);
  last = { block: block.block, lexed: next };
  return next;
}

function renderText(block: BlockView, context: RenderContext): Rendered {
  const { blocks } = tokensOf(block);
  const isOpen = block.state === 'open';
  const settled = isOpen ? settledCount(blocks) : blocks.length;
  const lines = (token: unknown) => blockLines(token as MarkedToken, context);
  return {
    parts: blocks.slice(0, settled).map((token, index) => ({ key: String(index), lines: lines(token) })),
    live: blocks
      .slice(settled)
      .map(lines)
      .filter(({ length }) => length > 0)
      .flatMap((one, index) => (index === 0 ? one : ['', ...one])),
    complete: !isOpen,
  };
}

/** Collapsed to one line. `Ctrl-O` shows the text. */
function renderReasoning(block: BlockView, { theme, width }: RenderContext): Rendered {
  if (block.state !== 'open') {
    const time = block.durationMs === null ? '' : ` for ${duration(block.durationMs)}`;
    return final([theme.dim(`✻ Thought${time}`)]);
  }
  const label = '✻ Thinking …';
  const end = safeLine(block.text.slice(-400));
  const room = width - widthOf(label) - 2;
  const shown = widthOf(end) > room ? Bun.sliceAnsi(end, -Math.max(1, room), undefined, '…') : end;
  return unfinished([cut(theme.dim(`${label} ${theme.italic(shown)}`), width)]);
}

/** One rendered row of a conversation. */

// Renders a tool call: its effect, approval, progress and output.

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

function renderCall(call: CallView, context: RenderContext): Rendered {
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

/** One line once no call can follow; until then also the last call. `Ctrl-O` shows each of them. */
function renderRun({ calls, isLive }: RunRow, context: RenderContext): Rendered {
  const { theme, width } = context;
  const { running } = runCounts(calls);
  const text = safeLine(runText(calls));
  if (!isLive && running === 0) {
    const line = spread(`${theme.green('●')} ${text}`, theme.dim('Ctrl-O shows them'), width);
    return final([line]);
  }
  const isFolded = calls.length >= MIN_CALLS;
  const shown = (isFolded ? calls.slice(-1) : calls).map((call) => {
    const { parts, live } = renderCall(call, context);
    return [...parts.flatMap(({ lines }) => lines), ...live];
  });
  const state = running > 0 ? theme.yellow(`${running} running`) : '';
  const head = isFolded ? [[spread(`${theme.yellow('●')} ${text}`, state, width)]] : [];
  return unfinished([...head, ...shown].flatMap((lines, index) => (index === 0 ? lines : ['', ...lines])));
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
  const { child } = call;
  const { style, text } = stateOf(call, theme);
  const name = `${style('●')} ${theme.bold(safeLine(child ? pathText(child.path) : call.tool))}`;
  const what = safeLine(child ? taskOf(call) : callSummary(call));
  return spread(what === '' ? name : `${name}  ${what}`, style(text), width);
}

function stateOf({ state, child }: CallView, theme: Theme): { readonly text: string; readonly style: Style } {
  if (state.phase !== 'ended') return { text: PHASES[state.phase], style: theme.yellow };
  if (child?.background && state.outcome === 'ok') return { text: 'Started', style: theme.green };
  const { text, style } = OUTCOMES[state.interrupted ? 'aborted' : state.outcome];
  const untrusted = state.untrusted ? 'untrusted content · ' : '';
  const spent = state.child?.spent;
  const used = spent && spent.tokens > 0 ? `${shortNumber(spent.tokens)} tokens · ` : '';
  return { text: `${untrusted}${used}${text} · ${duration(state.durationMs)}`, style: theme[style] };
}

/** The first line of what a sub-agent is to do. */
const taskOf = ({ input: { task, action } }: CallView): string =>
  String(task ?? action ?? '')
    .trim()
    .split('\n', 1)[0]
    ?.slice(0, 200) ?? '';

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

// Renders an approval, the keys that answer it, and the answer.

const NO_BREAK = '\u00a0';

/** Shows everything that would run, so that nothing hidden can be approved. */
function askLines({ tool, ask }: ApprovalView, context: RenderContext): string[] {
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

function explanationLines(text: string, context: RenderContext): string[] {
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

type Answers = {
  readonly explaining: boolean;
  /** the letter that answers in a moment */
  readonly held: Letter | null;
  /** the answer that the arrow keys have moved to */
  readonly selected: Letter | null;
};

const offeredFor = ({ ask }: ApprovalView): readonly Letter[] =>
  ask.grant === undefined ? ['y', 'n', 'e'] : ['y', 'a', 'n', 'e'];

/** The answers in one line, above a message that is being written. */
export function approvalKeys(approval: ApprovalView, { theme, width }: RenderContext): string[] {
  // Keep a key on the same line as its label.
  const keys = offeredFor(approval).map(
    (letter) => `${theme.bold(letter)}${NO_BREAK}${ANSWERS[letter].replaceAll(' ', NO_BREAK)}`,
  );
  const lines = wrapped(keys.join('   '), width).map((line) => line.replaceAll(NO_BREAK, ' '));
  return [...lines, ...wrapped(theme.dim('Ctrl-U empties the field to answer'), width)];
}

/** The answers as lines to choose from, what "always" would allow, and what the keys do. */
export function approvalLines(
  approval: ApprovalView,
  { theme, width }: RenderContext,
  { explaining, held, selected }: Answers,
): string[] {
  const marked = held ?? selected;
  const lines = offeredFor(approval).flatMap((letter) => {
    const key = theme.bold(theme.yellow(letter));
    const isWaiting = letter === 'e' && explaining;
    const text = isWaiting ? theme.dim('Asking the model for an explanation …') : `${key} ${ANSWERS[letter]}`;
    const line = letter === marked ? `${theme.cyan('❯')} ${theme.bold(text)}` : `  ${text}`;
    return letter === 'a' ? [line, ...grantLines(approval, { theme, width })] : [line];
  });
  const hint = held
    ? theme.yellow(`“${ANSWERS[held]}” is chosen: Enter confirms it now, Esc takes it back.`)
    : theme.dim('A letter, or ↑↓ and Enter. Anything else is a message.');
  const missing = approval.ask.grant === undefined ? grantLines(approval, { theme, width }) : [];
  return [...lines, ...missing, ...wrapped(hint, width)];
}

const grantLines = (
  { ask }: ApprovalView,
  { theme, width }: Pick<RenderContext, 'theme' | 'width'>,
): string[] =>
  hanging(wrapped(grantLine(ask.grant), Math.max(10, width - 4)), '    ', '    ').map((line) =>
    theme.dim(line),
  );

function grantLine(grant: string | undefined): string {
  if (grant === undefined) return '“Always” is not available: it would allow more than this call.';
  const { what, exactly, runs } = grantText(grant);
  return `Always allow: ${what}${what && ' '}${safeLine(exactly)} ${runs} without asking for the rest of this session.`;
}

function answerLines({ state }: ApprovalView, { theme, width, principal }: RenderContext): string[] {
  const here = state.status === 'answered' && state.by === principal && state.dialect === 'native';
  const text = answerText(state, here);
  if (text === null) return [];
  const isAllowed = state.status === 'answered' && state.answer !== 'deny';
  return wrapped(`  ${isAllowed ? theme.green('✓') : theme.red('✗')} ${theme.dim(safeText(text))}`, width);
}

// Renders a patch as coloured lines. Drops no text: a line that does not parse is shown unchanged.

const CHANGES = { add: 'Add', update: 'Update', delete: 'Delete', unknown: '' } as const;

type PatchNotes = { readonly replaces?: readonly string[] | undefined };

function patchLines(patch: string, context: RenderContext, { replaces = [] }: PatchNotes = {}): string[] {
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

// Terminal and user settings for rendering.

export type RenderContext = MarkdownOptions & {
  readonly height: number;
  /** the caller, to tell their own answers from those of others */
  readonly principal: string;
};

export type RenderOptions = {
  readonly theme: Theme;
  readonly principal: string;
};

/** Wider text is hard to read. */
const MAX_WIDTH = 120;

export function createRenderContext({ theme, principal }: RenderOptions) {
  const highlight = highlighting(theme);
  return ({ columns, rows }: { readonly columns: number; readonly rows: number }): RenderContext => ({
    width: Math.min(MAX_WIDTH, columns - 1),
    height: rows,
    theme,
    highlight,
    principal,
  });
}

/** Final lines, which never change once printed. */
export type FinalPart = {
  /** unique in its row */
  readonly key: string;
  readonly lines: readonly string[];
  /** belongs to the lines above: no blank line in between */
  readonly joined?: boolean;
};

export type Rendered = {
  readonly parts: readonly FinalPart[];
  /** lines after the parts that may still change */
  readonly live: readonly string[];
  /** no further part follows */
  readonly complete: boolean;
};

const final = (lines: readonly string[]): Rendered => ({
  parts: [{ key: 'all', lines }],
  live: [],
  complete: true,
});

export const unfinished = (live: readonly string[]): Rendered => ({ parts: [], live, complete: false });
