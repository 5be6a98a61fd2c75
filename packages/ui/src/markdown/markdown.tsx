/** Markdown as elements, with formulas and diagrams. */
import type { MarkedToken, Token, Tokens } from 'marked';
import {
  Fragment,
  type MouseEvent,
  memo,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Button, Icon } from '../components/controls.tsx';
import { Picture } from '../components/dialog.tsx';
import { useDark } from '../state/theme.tsx';
import { CodeBlock } from './code-block.tsx';
import {
  type DetailsToken,
  decodeEntities,
  isDetails,
  isMath,
  isNote,
  type Lexed,
  lexedForPages,
  type NoteToken,
} from './lex.ts';

type MarkdownProps = {
  readonly text: string;
  /** more text is coming */
  readonly open?: boolean;
};

/** Blocks per chunk: while streaming, only the last chunk renders again. */
const CHUNK = 16;

/** Markdown as React elements, never as HTML: model output cannot become scripts, markup or requests. */
export const Markdown = memo(function Markdown({ text, open = false }: MarkdownProps) {
  const read = useRef<{ readonly lexed: Lexed; readonly whole: boolean } | null>(null);
  const before = read.current;
  if (before?.lexed.text !== text || before.whole === open)
    read.current = { lexed: lexedForPages(before?.lexed ?? null, text, !open), whole: !open };
  return <MarkdownBlocks blocks={read.current?.lexed.blocks ?? []} open={open} />;
});

type BlocksProps = { readonly blocks: readonly Token[]; readonly open: boolean };

/** Markdown that is parsed already. */
export const MarkdownBlocks = memo(function MarkdownBlocks({ blocks, open }: BlocksProps) {
  return (
    <div className="markdown" data-open={open || undefined}>
      {Array.from({ length: Math.ceil(blocks.length / CHUNK) }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a growing chunk keeps its index
        <Chunk key={index} blocks={blocks.slice(index * CHUNK, (index + 1) * CHUNK)} />
      ))}
    </div>
  );
});

const Chunk = memo(
  function Chunk({ blocks }: { blocks: readonly Token[] }) {
    return (
      <div className="md-chunk">
        {blocks.map((token, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a growing block keeps its index
          <Block key={index} token={token} />
        ))}
      </div>
    );
  },
  (before, after) =>
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, index) => block === after.blocks[index]),
);

// Markdown blocks as React elements. Each has the direction of its text, since languages may be mixed.

/** Rendered again only if the token changes. */
const Block = memo(function Block({ token }: { token: Token }) {
  if (isMath(token)) return <Formula tex={token.tex} display={token.display} />;
  if (isDetails(token)) return <Details token={token} />;
  return isNote(token) ? <Note token={token} /> : block(token as MarkedToken);
});

/** Opened and closed by the reader. */
function Details({ token: { isOpen, summary, tokens } }: { token: DetailsToken }) {
  return (
    <details className="md-details" open={isOpen}>
      <summary dir="auto">{summary.length > 0 ? inline(summary) : 'Details'}</summary>
      {blocks(tokens)}
    </details>
  );
}

/** A reference leads to its footnote and back: no links, since the address of the page names the session. */
function Note({ token: { type, label, tokens } }: { token: NoteToken }) {
  const go = (other: NoteToken['type']) => (event: MouseEvent<HTMLElement>) => {
    const markdown = event.currentTarget.closest('.markdown');
    const found = [...(markdown?.querySelectorAll<HTMLElement>(`[data-${other}]`) ?? [])].find(
      ({ dataset }) => dataset[other] === label.toLowerCase(),
    );
    found?.scrollIntoView({ block: 'nearest' });
    found?.focus();
  };
  if (type === 'note')
    return (
      <sup>
        <button
          type="button"
          className="md-note"
          data-note={label.toLowerCase()}
          aria-label={`Footnote ${label}`}
          onClick={go('footnote')}
        >
          {label}
        </button>
      </sup>
    );
  return (
    <p className="md-footnote" data-footnote={label.toLowerCase()} tabIndex={-1} dir="auto">
      <button
        type="button"
        className="md-note"
        aria-label={`Back from footnote ${label}`}
        onClick={go('note')}
      >
        {label}.
      </button>{' '}
      {inline(tokens)}
    </p>
  );
}

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

// Inline Markdown. Unknown tokens are shown as written: nothing becomes markup by accident.

/** Tags without attributes that models write for what Markdown does not have. */
const TAG = /^<(kbd|mark|sub|sup|u)>$/i;

function inline(tokens: readonly Token[] = []): ReactNode {
  const lastEnds = new Map<string, number>();
  for (const [index, { raw }] of tokens.entries())
    if (raw.startsWith('</')) lastEnds.set(raw.toLowerCase(), index);
  const shown: ReactNode[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const tag = token.type === 'html' ? TAG.exec(token.raw)?.[1]?.toLowerCase() : undefined;
    // Without an end it stays text; no search for it, since an answer may have thousands of them.
    if (tag !== undefined && (lastEnds.get(`</${tag}>`) ?? 0) > at) {
      let end = at + 1;
      while (tokens[end]?.raw.toLowerCase() !== `</${tag}>`) end++;
      const Tag = tag as 'kbd';
      shown.push(<Tag key={at}>{inline(tokens.slice(at + 1, end))}</Tag>);
      at = end;
    } else shown.push(<Fragment key={at}>{one(token)}</Fragment>);
  }
  return shown;
}

const one = (token: Token): ReactNode => {
  if (isMath(token)) return <Formula tex={token.tex} display={token.display} />;
  return isNote(token) ? <Note token={token} /> : word(token as MarkedToken);
};

function word(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'text':
      return token.tokens ? inline(token.tokens) : decodeEntities(token.text);
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return (
        <input
          type="checkbox"
          checked={token.checked}
          disabled
          aria-label={token.checked ? 'Done' : 'Open'}
        />
      );
    case 'link':
      return <Link token={token} />;
    case 'image':
      return <ImageView token={token} />;
    case 'html':
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : token.raw;
    default:
      return token.raw;
  }
}

function Link({ token }: { token: Tokens.Link }) {
  const href = followable(token.autolink ? token.href : decodeEntities(token.href));
  if (href === null) return <span title={`Link not followed: ${token.href}`}>{inline(token.tokens)}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {inline(token.tokens)}
    </a>
  );
}

/** Remote images are not loaded, since the request would reveal the reader. They are shown as links. */
function ImageView({ token }: { token: Tokens.Image }) {
  const alt = decodeEntities(token.text) || 'Image';
  const inside = embedded(token.href);
  if (inside !== null) return <Picture src={inside} alt={alt} />;
  const href = followable(decodeEntities(token.href));
  if (href === null) return <span className="md-picture">{alt}</span>;
  return (
    <a className="md-picture" href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      <Icon name="image" />
      {alt} <small>image on {new URL(href).host}, not loaded</small>
    </a>
  );
}

/** Which links in model output may be followed. */

const LEADS = new Set(['http:', 'https:', 'mailto:']);

/** Null unless it is a web or mail address: no scripts, files or places inside this page. */
function followable(href: string): string | null {
  const url = URL.parse(href.trim());
  return url !== null && LEADS.has(url.protocol) ? url.href : null;
}

/** Inline images of the text; null for remote images and for SVG, which can contain scripts. */
function embedded(href: string): string | null {
  return /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]+$/i.test(href) ? href : null;
}

// A formula: its source at first, drawn once KaTeX is loaded.

/** Longer formulas stay source. */
const MAX_FORMULA = 5_000;

type MathProps = { readonly tex: string; readonly display: boolean };

export const Formula = memo(function Formula({ tex, display }: MathProps) {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    if (tex.length > MAX_FORMULA) return;
    let gone = false;
    void import('./katex.ts').then(({ draw }) => {
      if (!gone && place.current) setDrawn(draw(tex, place.current, display));
    });
    return () => {
      gone = true;
    };
  }, [tex, display]);
  const source = <code className="math-source">{tex}</code>;
  return (
    <span className={display ? 'math math-display' : 'math'} tabIndex={display ? 0 : undefined}>
      <span ref={place} hidden={!drawn} />
      {!drawn && source}
    </span>
  );
});

// A Mermaid diagram: its source while it is written, then a picture.

/** Longer diagrams stay source. */
const MAX_DIAGRAM = 20_000;
/** While the source grows, it is not drawn. */
const DEBOUNCE_MS = 300;

export const Diagram = memo(function Diagram({ source }: { source: string }) {
  const dark = useDark();
  const settled = useDeferredValue(source);
  const [picture, setPicture] = useState<{ readonly of: string; readonly address: string } | null>(null);
  const [asSource, setAsSource] = useState(false);

  useEffect(() => {
    if (settled.length > MAX_DIAGRAM) return;
    let gone = false;
    const timer = setTimeout(async () => {
      const { drawDiagram } = await import('./draw-diagram.ts');
      const svg = await drawDiagram(settled, dark);
      if (!gone) setPicture(svg === null ? null : { of: settled, address: addressOf(svg) });
    }, DEBOUNCE_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [settled, dark]);

  if (picture?.of !== source || asSource)
    return (
      <>
        <CodeBlock code={source} language="mermaid" />
        {picture?.of === source && (
          <Button variant="quiet" onClick={() => setAsSource(false)}>
            Show diagram
          </Button>
        )}
      </>
    );
  return (
    <figure className="diagram">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide diagram scrolls, and must be reachable by keyboard */}
      <section className="diagram-picture" tabIndex={0} aria-label="Diagram">
        <Picture src={picture.address} alt={`Diagram: ${source.split('\n', 1)[0]}`} />
      </section>
      <Button variant="quiet" onClick={() => setAsSource(true)}>
        Show source
      </Button>
    </figure>
  );
});

/** As an image, so that nothing in it runs, loads or is part of the page. */
const addressOf = (svg: string): string => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
