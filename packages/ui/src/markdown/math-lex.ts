/** Markdown with formulas: `$x$`, `\\(x\\)`, `$$x$$` and `\\[x\\]`. */
import type { Token, TokenizerAndRendererExtension } from 'marked';
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

export const lexedWithMath = lexedWith({ extensions: [inline, block] });

export const isMath = (token: Token): token is MathToken & Token => token.type === 'math';
