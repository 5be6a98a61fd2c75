/**
 * Markdown as blocks, while it is still being written. A block that more text cannot change any more is kept as the
 * same object, so that only the end of a long answer is read and drawn again.
 */
import { lexer, type Token } from 'marked';

export type Lexed = { readonly text: string; readonly blocks: readonly Token[] };

/** `whole` where the text is complete: references may be defined after they are used, so all of it is read once more. */
export function lexed(before: Lexed | null, said: string, whole: boolean): Lexed {
  const text = said.replaceAll('\r\n', '\n');
  const grown = before !== null && text.startsWith(before.text) ? before : null;
  if (grown && grown.text === text && !whole) return grown;
  const settled = grown && !whole ? settledCount(grown.blocks) : 0;
  const kept = grown?.blocks.slice(0, settled) ?? [];
  const from = kept.reduce((sum, { raw }) => sum + raw.length, 0);
  const read = lexer(text.slice(from));
  const defines = whole && read.some(({ type }) => type === 'def');
  const blocks = read.map((block, index) => {
    const known = grown?.blocks[settled + index];
    return !defines && known?.type === block.type && known.raw === block.raw ? known : block;
  });
  return { text, blocks: [...kept, ...blocks] };
}

/** The last two blocks may still change: a list goes on after an empty line, a line becomes a heading by the next. */
function settledCount(blocks: readonly Token[]): number {
  let open = 2;
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index]?.type !== 'space') open--;
    if (open === 0) return index;
  }
  return 0;
}
