/**
 * Incremental Markdown lexer. A block that more text cannot change stays the same object, so that only the end of a long
 * answer is parsed and rendered again.
 */
import { lexer, type Token } from 'marked';

export type Lexed = { readonly text: string; readonly blocks: readonly Token[] };

type Lex = (text: string) => readonly Token[];

/** `whole`: the text is complete. It is parsed again, since references may be defined after their use. */
export const lexedWith =
  (lex: Lex) =>
  (before: Lexed | null, said: string, whole: boolean): Lexed => {
    const text = said.replaceAll('\r\n', '\n');
    const grown = before !== null && text.startsWith(before.text) ? before : null;
    if (grown && grown.text === text && !whole) return grown;
    const settled = grown && !whole ? settledCount(grown.blocks) : 0;
    const kept = grown?.blocks.slice(0, settled) ?? [];
    const from = kept.reduce((sum, { raw }) => sum + raw.length, 0);
    const read = lex(text.slice(from));
    const defines = whole && read.some(({ type }) => type === 'def');
    const blocks = read.map((block, index) => {
      const known = grown?.blocks[settled + index];
      return !defines && known?.type === block.type && known.raw === block.raw ? known : block;
    });
    return { text, blocks: [...kept, ...blocks] };
  };

/** Without formulas, which only pages can show. */
export const lexed = lexedWith(lexer);

/** The last two blocks can still change: lists continue after blank lines, setext headings need the next line. */
export function settledCount(blocks: readonly Token[]): number {
  let open = 2;
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index]?.type !== 'space') open--;
    if (open === 0) return index;
  }
  return 0;
}
