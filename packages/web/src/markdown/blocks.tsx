/** Markdown blocks as React elements. Each has the direction of its text, since languages may be mixed. */
import type { MarkedToken, Token, Tokens } from 'marked';
import { memo, type ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { Diagram } from './diagram.tsx';
import { inline } from './inline.tsx';
import { Formula } from './math.tsx';
import { isMath } from './math-lex.ts';

/** Rendered again only if the token changes. */
export const Block = memo(function Block({ token }: { token: Token }) {
  return isMath(token) ? <Formula tex={token.tex} display={token.display} /> : block(token as MarkedToken);
});

function blocks(tokens: readonly Token[]): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a growing block keeps its index
  return tokens.map((token, index) => <Block key={index} token={token} />);
}

function block(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      // The page uses h1 and h2, so headings of an answer start below them.
      const Level = `h${Math.min(6, token.depth + 2)}` as 'h3';
      return (
        <Level className={`md-h${token.depth}`} dir="auto">
          {inline(token.tokens)}
        </Level>
      );
    }
    case 'paragraph':
      return <p dir="auto">{inline(token.tokens)}</p>;
    case 'text':
      return token.tokens ? inline(token.tokens) : inline([token]);
    case 'code':
      if (token.lang?.trim() === 'mermaid') return <Diagram source={token.text} />;
      return <CodeBlock code={token.text} language={token.lang?.split(/\s/, 1)[0] ?? ''} />;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'list':
      return <List token={token} />;
    case 'table':
      return <Table token={token} />;
    case 'hr':
      return <hr />;
    case 'html':
      return token.raw.trim() === '' ? null : <p className="md-html">{token.raw.trim()}</p>;
    default:
      return inline([token]);
  }
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a growing item keeps its index
    <li key={index} className={item.task ? 'md-task' : undefined}>
      {blocks(item.tokens)}
    </li>
  ));
  if (!token.ordered) return <ul dir="auto">{items}</ul>;
  return (
    <ol dir="auto" start={token.start === '' ? 1 : token.start}>
      {items}
    </ol>
  );
}

/** Columns of short texts are not wrapped, and sentences have room: `md-short`, `md-long`. */
function widthOf({ header, rows }: Tokens.Table, column: number): string {
  const longest = [header, ...rows].reduce((most, row) => Math.max(most, row[column]?.text.length ?? 0), 0);
  if (longest <= 24) return 'md-short';
  return longest > 60 ? 'md-long' : '';
}

function Table({ token }: { token: Tokens.Table }) {
  const widths = token.header.map((_, column) => widthOf(token, column));
  const cell = (one: Tokens.TableCell, index: number) => {
    const classes = [one.align ? `md-${one.align}` : '', widths[index]].filter(Boolean).join(' ');
    const Cell = one.header ? 'th' : 'td';
    return (
      <Cell key={index} className={classes || undefined} scope={one.header ? 'col' : undefined} dir="auto">
        {inline(one.tokens)}
      </Cell>
    );
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="md-table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map(cell)}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids
            <tr key={index}>{row.map(cell)}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
