/** `Ctrl-O`: the last thinking or tool call as a whole; pressed again, the one before. */
import type { BlockView, CallView, Item, SessionView } from '@parlance/sdk';
import { wrapped } from '../terminal/layout.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Look } from './look.ts';
import { wholeCall } from './render-call.ts';

type Folded = BlockView | CallView;

const isFolded = (item: Item): item is Folded => item.kind === 'reasoning' || item.kind === 'call';
const idOf = (item: Folded): string => (item.kind === 'call' ? item.call : item.block);

export class Unfolding {
  /** shown since something new was folded */
  readonly #shown = new Set<string>();
  #last: string | null = null;

  /** Empty if nothing is left. */
  next(view: SessionView, look: Look): string[] {
    const items = view.entries.flatMap((entry): readonly Item[] =>
      entry.kind === 'turn' ? entry.items : [],
    );
    const folded = items.filter(isFolded);
    const last = folded.at(-1);
    if (last && idOf(last) !== this.#last) {
      this.#shown.clear();
      this.#last = idOf(last);
    }
    const item = folded.findLast((one) => !this.#shown.has(idOf(one)));
    if (!item) return [];
    this.#shown.add(idOf(item));
    return ['', ...wholeItem(item, look)];
  }
}

function wholeItem(item: Folded, look: Look): string[] {
  if (item.kind === 'call') return wholeCall(item, look);
  const lines = wrapped(safeText(item.text), look.width - 2);
  return [
    look.theme.dim('✻ Thinking'),
    ...lines.map((line) => look.theme.dim(look.theme.italic(`  ${line}`))),
  ];
}
