/** Renders rows of a conversation. Uses the wording of the console. */
import type { HistoryItem, Part } from '@parlance/protocol';
import type { BlockView, CompactionView, InputView, Item, TurnView } from '@parlance/sdk';
import { duration, shortNumber } from '@parlance/ui/chat/cost.ts';
import { type Row, restartText } from '@parlance/ui/chat/rows.ts';
import { type Lexed, lexed, settledCount } from '@parlance/ui/markdown/lex.ts';
import type { MarkedToken } from 'marked';
import { cut, hanging, widthOf, wrapped } from '../terminal/layout.ts';
import { blockLines, markdownLines } from '../terminal/markdown.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { renderCall } from './render-call.ts';
import { final, type RenderContext, type Rendered, unfinished } from './render-context.ts';

export function renderRow(row: Row, context: RenderContext): Rendered {
  switch (row.kind) {
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
    case 'compaction':
      return final(compactionLines(item, context));
  }
}

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

function endLines({ state, usage }: TurnView, context: RenderContext): string[] {
  const { theme, width } = context;
  const tokens = usage.inputTokens + usage.outputTokens;
  const used = `${shortNumber(usage.inputTokens)} in, ${shortNumber(usage.outputTokens)} out`;
  const line = [
    state.status === 'cancelled' ? CANCELLED[state.reason] : '',
    'durationMs' in state ? duration(state.durationMs) : '',
    tokens > 0 ? used : '',
  ];
  const failed = state.status === 'failed' ? wrapped(`✗ ${safeText(state.fault.message)}`, width) : [];
  const summary = line.filter(Boolean).join(' · ');
  return [...failed.map(theme.red), ...(summary === '' ? [] : [theme.dim(summary)])];
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
