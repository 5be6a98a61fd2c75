/**
 * Incremental Markdown lexer. A block that more text cannot change stays the same object, so that only the end of a long
 * answer is parsed and rendered again. Lists, tables and paragraphs of any length are divided into parts of about
 * `PART` characters: each is a block of its own, and a long one is not parsed again with every token, either.
 */

import {
  Marked,
  type MarkedExtension,
  type Token,
  Tokenizer,
  type TokenizerAndRendererExtension,
  type Tokens,
} from 'marked';

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

// Markdown with formulas: `$x$`, `\\(x\\)`, `$$x$$` and `\\[x\\]`.

export type MathToken = {
  readonly type: 'math';
  readonly raw: string;
  readonly tex: string;
  readonly display: boolean;
};

/** As in Pandoc, so that amounts of money are no formulas: no space inside of the signs, and no digit after the last. */
const INLINE = /^\$(?![\s$])((?:\\.|[^\\$`\n])*?(?:\\.|[^\\$`\s]))\$(?!\d)|^\\\(([^\n]+?)\\\)/;
/** Also in the middle of a paragraph. */
const DISPLAY = /^\$\$((?:\\.|[^\\$`\n])+?)\$\$|^\\\[([^\n]+?)\\\]/;
const BLOCK = /^ {0,3}(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/;

const inline: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: (text) => {
    const at = text.search(/\$|\\[([]/);
    return at < 0 ? undefined : at;
  },
  tokenizer(text) {
    const displayed = DISPLAY.exec(text);
    const [raw, dollars, brackets] = displayed ?? INLINE.exec(text) ?? [];
    if (raw === undefined) return undefined;
    return { type: 'math', raw, tex: (dollars ?? brackets ?? '').trim(), display: displayed !== null };
  },
};

const block: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  start: (text) => {
    // It is asked for each paragraph, where a formula could interrupt it: no search through the rest of the answer.
    const end = text.search(/\n[ \t]*\n/);
    const at = (end < 0 ? text : text.slice(0, end)).search(/^ {0,3}(?:\$\$|\\\[)/m);
    return at < 0 ? undefined : at;
  },
  tokenizer(text) {
    const [raw, dollars, brackets] = BLOCK.exec(text) ?? [];
    if (raw === undefined) return undefined;
    return { type: 'math', raw, tex: (dollars ?? brackets ?? '').trim(), display: true };
  },
};

// Sections that open (`<details>` with `<summary>`), and footnotes (`[^1]`, `[^1]: text`).

export type DetailsToken = {
  readonly type: 'details';
  readonly raw: string;
  readonly isOpen: boolean;
  /** inline; empty if there is none */
  readonly summary: readonly Token[];
  readonly tokens: readonly Token[];
};

/** `note`: a reference to a footnote, `footnote`: its text. */
export type NoteToken = {
  readonly type: 'note' | 'footnote';
  readonly raw: string;
  readonly label: string;
  readonly tokens: readonly Token[];
};

const DETAILS = /^<details( open)?>[ \t]*\n?/i;
const SUMMARY = /^\s*<summary>([\s\S]{0,1000}?)<\/summary>/i;
const DETAILS_TAG = /<(\/?)details(?: open)?>/gi;
/** Without an end, everything up to here is inside: it may be on its way. */
const MAX_UNENDED = 20_000;
const MAX_NESTED = 8;
let nested = 0;

const details: TokenizerAndRendererExtension = {
  name: 'details',
  level: 'block',
  start: (text) => {
    const at = text.slice(0, PART).search(/^<details/im);
    return at < 0 ? undefined : at;
  },
  tokenizer(text) {
    const [head, open] = DETAILS.exec(text) ?? [];
    if (head === undefined || nested === MAX_NESTED) return undefined;
    let depth = 0;
    let [end, after] = [text.length, text.length];
    for (const tag of text.matchAll(DETAILS_TAG)) {
      depth += tag[1] ? -1 : 1;
      if (depth > 0) continue;
      [end, after] = [tag.index, tag.index + tag[0].length];
      break;
    }
    if (depth > 0 && text.length > MAX_UNENDED) return undefined;
    const inner = text.slice(head.length, end);
    const [whole = '', summary = ''] = SUMMARY.exec(inner) ?? [];
    nested++;
    const tokens = this.lexer.blockTokens(`${inner.slice(whole.length).replace(/^\s*\n/, '')}\n`, []);
    nested--;
    return {
      type: 'details',
      raw: text.slice(0, after) + (/^[ \t]*\n+/.exec(text.slice(after))?.[0] ?? ''),
      isOpen: open !== undefined,
      summary: this.lexer.inline(summary.trim(), []),
      tokens,
    };
  },
};

const FOOTNOTE = /^\[\^([\w.-]{1,40})\]:[ \t]+([^\n]+(?:\n(?![ \t]*(?:\n|\[\^|$))[^\n]+)*)\n*/;
const NOTE = /^\[\^([\w.-]{1,40})\](?!:)/;
const nameOf = (label: string): string => `^${label.toLowerCase()}`;

const footnote: TokenizerAndRendererExtension = {
  name: 'footnote',
  level: 'block',
  start: (text) => {
    const at = text.slice(0, PART).search(/^\[\^[\w.-]{1,40}\]:/m);
    return at < 0 ? undefined : at;
  },
  tokenizer(text) {
    const [raw, label, note] = FOOTNOTE.exec(text) ?? [];
    if (raw === undefined || label === undefined || note === undefined) return undefined;
    // Known to its references, which are parsed after all blocks.
    this.lexer.tokens.links[nameOf(label)] ??= { href: '', title: '' };
    return { type: 'footnote', raw, label, tokens: this.lexer.inline(note, []) };
  },
};

const note: TokenizerAndRendererExtension = {
  // Plain text ends before every bracket, so that no search for the next one is needed.
  name: 'note',
  level: 'inline',
  tokenizer(text) {
    const [raw, label] = NOTE.exec(text) ?? [];
    // Without a footnote it is text, such as a part of a regular expression.
    if (raw === undefined || label === undefined || !this.lexer.tokens.links[nameOf(label)]) return undefined;
    return { type: 'note', raw, label, tokens: [] };
  },
};

/** For pages. */
export const lexedForPages = lexedWith({ extensions: [inline, block, details, footnote, note] });

export const isMath = (token: Token): token is MathToken & Token => token.type === 'math';
export const isDetails = (token: Token): token is DetailsToken & Token => token.type === 'details';
export const isNote = (token: Token): token is NoteToken & Token =>
  token.type === 'note' || token.type === 'footnote';

// Decodes character references such as `&amp;`. React escapes the result, so it cannot become markup.

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  times: '×',
  deg: '°',
  larr: '←',
  rarr: '→',
  le: '≤',
  ge: '≥',
  ne: '≠',
  middot: '·',
  bull: '•',
};

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, ...[decimal, hex, name]) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const surrogate = point >= 0xd800 && point <= 0xdfff;
    return point === 0 || point > 0x10ffff || surrogate ? '\ufffd' : String.fromCodePoint(point);
  });
}
