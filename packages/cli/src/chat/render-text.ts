/** Renders text of the agent. Blocks that further text cannot change are final while the rest is streamed. */
import type { BlockView } from '@parlance/sdk';
import { duration } from '@parlance/ui/chat/cost.ts';
import { type Lexed, lexed, settledCount } from '@parlance/ui/markdown/lex.ts';
import type { MarkedToken } from 'marked';
import { cut, widthOf } from '../terminal/layout.ts';
import { blockLines } from '../terminal/markdown.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { RenderContext } from './render-context.ts';
import { final, type Rendered, unfinished } from './rendered.ts';

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

export function renderText(block: BlockView, context: RenderContext): Rendered {
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
export function renderReasoning(block: BlockView, { theme, width }: RenderContext): Rendered {
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
