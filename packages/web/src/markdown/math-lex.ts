/** Markdown with formulas: `$x$`, `\\(x\\)`, `$$x$$` and `\\[x\\]`. */
import { Marked, type Token, type TokenizerAndRendererExtension } from 'marked';
import { lexedWith } from './lex.ts';

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
    const at = text.search(/^ {0,3}(?:\$\$|\\\[)/m);
    return at < 0 ? undefined : at;
  },
  tokenizer(text) {
    const [raw, dollars, brackets] = BLOCK.exec(text) ?? [];
    if (raw === undefined) return undefined;
    return { type: 'math', raw, tex: (dollars ?? brackets ?? '').trim(), display: true };
  },
};

const marked = new Marked({ extensions: [inline, block] });

export const lexedWithMath = lexedWith((text) => marked.lexer(text));

export const isMath = (token: Token): token is MathToken & Token => token.type === 'math';
