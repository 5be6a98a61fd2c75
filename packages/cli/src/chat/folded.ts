/** `Ctrl-O`: the last thinking or tool call as a whole. */
import type { Item, SessionView } from '@parlance/sdk';
import { wrapped } from '../terminal/layout.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Look } from './look.ts';
import { wholeCall } from './render-call.ts';

/** Null if there is none. */
export function lastFolded(view: SessionView, look: Look): string[] | null {
  const items = view.entries.flatMap((entry): readonly Item[] => (entry.kind === 'turn' ? entry.items : []));
  const item = items.findLast(({ kind }) => kind === 'reasoning' || kind === 'call');
  if (item?.kind === 'call') return ['', ...wholeCall(item, look)];
  if (item?.kind !== 'reasoning') return null;
  const lines = wrapped(safeText(item.text), look.width - 2);
  return [
    '',
    look.theme.dim('✻ Thinking'),
    ...lines.map((line) => look.theme.dim(look.theme.italic(`  ${line}`))),
  ];
}
