/** Inline Markdown. Unknown tokens are shown as written: nothing becomes markup by accident. */
import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { Icon } from '../components/icon.tsx';
import { Picture } from '../components/picture.tsx';
import { decodeEntities } from './entities.ts';
import { embedded, followable } from './links.ts';
import { Formula } from './math.tsx';
import { isMath } from './math-lex.ts';

/** Tags without attributes that models write for what Markdown does not have. */
const TAG = /^<(kbd|mark|sub|sup|u)>$/i;

export function inline(tokens: readonly Token[] = []): ReactNode {
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

const one = (token: Token): ReactNode =>
  isMath(token) ? <Formula tex={token.tex} display={token.display} /> : word(token as MarkedToken);

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
