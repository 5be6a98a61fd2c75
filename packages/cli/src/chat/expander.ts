/** `Ctrl-O`: the last thinking or tool call as a whole; pressed again, the one before. */
import type { BlockView, CallView, Item, SessionView } from '@parlance/sdk';
import { wrapped } from '../terminal/layout.ts';
import { safeText } from '../terminal/safe-text.ts';
import { expandedCall } from './render-call.ts';
import type { RenderContext } from './render-context.ts';

type CollapsedItem = BlockView | CallView;

const isCollapsed = (item: Item): item is CollapsedItem => item.kind === 'reasoning' || item.kind === 'call';
const idOf = (item: CollapsedItem): string => (item.kind === 'call' ? item.call : item.block);

export class Expander {
  /** shown since a new item was collapsed */
  readonly #shown = new Set<string>();
  #last: string | null = null;

  /** Empty if nothing is left. */
  next(view: SessionView, context: RenderContext): string[] {
    const items = view.entries.flatMap((entry): readonly Item[] =>
      entry.kind === 'turn' ? entry.items : [],
    );
    const collapsed = items.filter(isCollapsed);
    const last = collapsed.at(-1);
    if (last && idOf(last) !== this.#last) {
      this.#shown.clear();
      this.#last = idOf(last);
    }
    const item = collapsed.findLast((one) => !this.#shown.has(idOf(one)));
    if (!item) return [];
    this.#shown.add(idOf(item));
    return ['', ...expandedLines(item, context)];
  }
}

function expandedLines(item: CollapsedItem, context: RenderContext): string[] {
  if (item.kind === 'call') return expandedCall(item, context);
  const lines = wrapped(safeText(item.text), context.width - 2);
  return [
    context.theme.dim('✻ Thinking'),
    ...lines.map((line) => context.theme.dim(context.theme.italic(`  ${line}`))),
  ];
}
