/** Markdown as it is read aloud: its words without marks. */
import type { MarkedToken, Token } from 'marked';
import { decodeEntities } from './entities.ts';
import { isMath, lexedWithMath } from './math-lex.ts';

/** Blocks are lines. Code is not read, only named. */
export const plainText = (markdown: string): string =>
  lexedWithMath(null, markdown, false)
    .blocks.map((block) => blockText(block).replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');

function blockText(token: Token): string {
  const block = token as MarkedToken;
  switch (block.type) {
    case 'code':
      return `Code: ${block.lang || 'text'}.`;
    case 'list':
      return block.items.map(({ tokens }) => `${textOf(tokens).trim()}\n`).join('');
    case 'table':
      return [block.header, ...block.rows]
        .map((row) => row.map(({ tokens }) => textOf(tokens)).join(', '))
        .join('. ');
    case 'space':
    case 'def':
    case 'hr':
      return '';
    default:
      return textOf([token]);
  }
}

const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token): string => {
      if (isMath(token)) return token.tex;
      if (['code', 'list', 'table', 'space', 'hr'].includes(token.type)) return blockText(token);
      if ('tokens' in token && token.tokens) return textOf(token.tokens);
      if (token.type === 'br') return ' ';
      // A mark whose end has not been streamed yet is not read, either.
      return 'text' in token ? decodeEntities(token.text).replace(/\*{1,3}|`+|~~/g, '') : '';
    })
    .join('');
