/**
 * Incremental Markdown lexer. A block that more text cannot change stays the same object, so that only the end of a long
 * answer is parsed and rendered again. Lists, tables and paragraphs of any length are divided into parts of about
 * `PART` characters: each is a block of its own, and a long one is not parsed again with every token, either.
 */
import { Marked, type MarkedExtension, type Token, Tokenizer, type Tokens } from 'marked';

export type Lexed = { readonly text: string; readonly blocks: readonly Token[] };

const PART = 3_000;

/** A table whose next rows are another table, below the same header. */
type DividedTable = Tokens.Table & { readonly head?: string };

/** The rest of a table: the text, and the header and delimiter row before it. */
type Rest = { readonly text: string; readonly head: string };

const LIST_ITEM = /\n(?=(?:[*+-]|\d{1,9}[.)])[ \t])/g;
const LINE = /\n/g;
const SPACE = /\s/g;

/** The beginning of the text, up to the first place after a part where it may be divided. */
function part(text: string, place: RegExp): string {
  if (text.length <= PART) return text;
  place.lastIndex = PART;
  return place.exec(text) ? text.slice(0, place.lastIndex) : text;
}

/** Parses blocks, with the block before them. `extension` adds to Markdown. */
function lexerOf(extension: MarkedExtension): (text: string, before?: Token) => readonly Token[] {
  let rest: Rest | null = null;
  const marked = new Marked(extension, {
    tokenizer: {
      list(text) {
        return Tokenizer.prototype.list.call(this, part(text, LIST_ITEM));
      },
      // The line below decides if it is a heading: it is looked for in every paragraph.
      lheading(text) {
        return Tokenizer.prototype.lheading.call(this, part(text, LINE));
      },
      paragraph(text) {
        return Tokenizer.prototype.paragraph.call(this, part(text, SPACE));
      },
      table(text) {
        const head = rest?.text === text ? rest.head : '';
        const rows = part(text, LINE);
        const token: DividedTable | undefined = Tokenizer.prototype.table.call(this, head + rows);
        if (!token) return undefined;
        const raw = token.raw.slice(head.length);
        if (raw.length < rows.trimEnd().length || rows.length === text.length) return { ...token, raw };
        const divided = { ...token, raw, head: head || (/^.*\n.*\n/.exec(rows)?.[0] ?? '') };
        rest = { text: text.slice(rows.length), head: divided.head };
        return divided;
      },
    },
  });
  return (text, before) => {
    const head = before?.type === 'table' ? (before as DividedTable).head : undefined;
    rest = head === undefined ? null : { text, head };
    return marked.lexer(text);
  };
}

const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

/** `whole`: the text is complete. It is parsed again if it has references, which may be defined after their use. */
export function lexedWith(
  extension: MarkedExtension,
): (before: Lexed | null, said: string, whole: boolean) => Lexed {
  const lex = lexerOf(extension);
  return (before, said, whole) => {
    const text = said.includes('\r') ? said.replaceAll('\r\n', '\n') : said;
    const grown = before !== null && text.startsWith(before.text) ? before : null;
    const defines = whole && DEFINITION.test(text);
    if (grown && grown.text === text && !defines) return grown;
    const settled = grown && !defines ? settledCount(grown.blocks) : 0;
    const kept = grown?.blocks.slice(0, settled) ?? [];
    const from = kept.reduce((sum, { raw }) => sum + raw.length, 0);
    const blocks = lex(text.slice(from), kept.at(-1)).map((block, index) => {
      const known = grown?.blocks[settled + index];
      return !defines && known?.type === block.type && known.raw === block.raw ? known : block;
    });
    return { text, blocks: [...kept, ...blocks] };
  };
}

/** Without formulas, which only pages can show. */
export const lexed = lexedWith({});

/** The last two blocks can still change: lists continue after blank lines, setext headings need the next line. */
export function settledCount(blocks: readonly Token[]): number {
  let open = 2;
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index]?.type !== 'space') open--;
    if (open === 0) return index;
  }
  return 0;
}
