/**
 * Splits HTML into tags and text, in one pass and without failing: what cannot be a tag is text, what is not closed ends with
 * the source. Bun's HTMLRewriter is not used: 1 MB of nested tags takes it three seconds, and it does not report text outside
 * of elements.
 */
import { decodeEntities } from './entities.ts';

export type Attributes = ReadonlyMap<string, string>;

export type Content = {
  /** there is no end tag */
  readonly closed: boolean;
  /** the decoded text of a textarea or a title, which contain no tags */
  readonly raw: string;
};

const EMPTY: Content = { closed: true, raw: '' };
const FOLLOWS: Content = { closed: false, raw: '' };

export type HtmlSink = {
  open(tag: string, attributes: Attributes, content: Content): void;
  close(tag: string): void;
  text(text: string): void;
};

const NOTHING: Attributes = new Map();
/** Up to their end tag these contain no tags. Only the text of two of them is used. */
const RAW = new Map(
  ['script', 'style', 'iframe', 'noembed', 'noframes', 'xmp', 'textarea', 'title'].map((tag) => [
    tag,
    new RegExp(`</${tag}(?=[\\s/>])`, 'gi'),
  ]),
);
const KEPT = new Set(['textarea', 'title']);
const MAX_RAW_LENGTH = 20_000;

export function readHtml(source: string, sink: HtmlSink): void {
  let at = 0;
  while (at < source.length) {
    const start = source.indexOf('<', at);
    if (start === -1) {
      sink.text(decodeEntities(source.slice(at)));
      return;
    }
    const code = source.charCodeAt(start + 1);
    const ends = code === SLASH;
    if (!isLetter(ends ? source.charCodeAt(start + 2) : code)) {
      if (start > at) sink.text(decodeEntities(source.slice(at, start)));
      at = code === MARK || code === QUERY || ends ? afterRemark(source, start, sink) : lone(start, sink);
      continue;
    }
    if (start > at) sink.text(decodeEntities(source.slice(at, start)));
    const nameStart = start + (ends ? 2 : 1);
    let nameEnd = nameStart + 1;
    while (nameEnd < source.length && !endsName(source.charCodeAt(nameEnd))) nameEnd++;
    const tag = source.slice(nameStart, nameEnd).toLowerCase();
    if (ends) {
      const end = source.indexOf('>', nameEnd);
      sink.close(tag);
      at = end === -1 ? source.length : end + 1;
      continue;
    }
    at = openTag(source, { tag, nameEnd }, sink);
  }
}

type TagName = { readonly tag: string; readonly nameEnd: number };

function openTag(source: string, { tag, nameEnd }: TagName, sink: HtmlSink): number {
  const { attributes, closed, end } = attributesAt(source, nameEnd);
  const closing = closed ? undefined : RAW.get(tag);
  if (!closing) {
    sink.open(tag, attributes, closed ? EMPTY : FOLLOWS);
    return end;
  }
  closing.lastIndex = end;
  const found = closing.exec(source)?.index ?? source.length;
  const raw = KEPT.has(tag) ? decodeEntities(source.slice(end, Math.min(found, end + MAX_RAW_LENGTH))) : '';
  sink.open(tag, attributes, { closed: true, raw });
  const after = source.indexOf('>', found);
  return after === -1 ? source.length : after + 1;
}

const lone = (start: number, sink: HtmlSink): number => {
  sink.text('<');
  return start + 1;
};

/** Comments, doctypes and processing instructions are skipped; CDATA is text. */
function afterRemark(source: string, start: number, sink: HtmlSink): number {
  if (source.startsWith('<!--', start)) {
    if (source.startsWith('>', start + 4)) return start + 5;
    const end = source.indexOf('-->', start + 4);
    return end === -1 ? source.length : end + 3;
  }
  if (source.startsWith('<![CDATA[', start)) {
    const end = source.indexOf(']]>', start + 9);
    sink.text(source.slice(start + 9, end === -1 ? source.length : end));
    return end === -1 ? source.length : end + 3;
  }
  const end = source.indexOf('>', start);
  return end === -1 ? source.length : end + 1;
}

/** The first of two attributes with the same name counts. Values are decoded. */
function attributesAt(source: string, from: number) {
  let attributes: Map<string, string> | null = null;
  let at = from;
  let closed = false;
  while (at < source.length) {
    const code = source.charCodeAt(at);
    if (code === GREATER) return { attributes: attributes ?? NOTHING, closed, end: at + 1 };
    if (isBlank(code) || code === SLASH) {
      closed = code === SLASH && source.charCodeAt(at + 1) === GREATER;
      at++;
      continue;
    }
    const start = at++;
    while (at < source.length && !endsAttribute(source.charCodeAt(at))) at++;
    const name = source.slice(start, at).toLowerCase();
    let next = at;
    while (isBlank(source.charCodeAt(next))) next++;
    let value = '';
    if (source.charCodeAt(next) === EQUALS) {
      next++;
      while (isBlank(source.charCodeAt(next))) next++;
      const quote = source.charCodeAt(next);
      let begin = next;
      if (quote === DOUBLE || quote === SINGLE) {
        begin = next + 1;
        const end = source.indexOf(quote === DOUBLE ? '"' : "'", begin);
        at = end === -1 ? source.length : end;
        value = source.slice(begin, at);
        at++;
      } else {
        at = begin;
        while (at < source.length && !endsValue(source.charCodeAt(at))) at++;
        value = source.slice(begin, at);
      }
    } else at = next;
    attributes ??= new Map();
    if (!attributes.has(name)) attributes.set(name, decodeEntities(value));
  }
  return { attributes: attributes ?? NOTHING, closed, end: source.length };
}

const MARK = 33;
const DOUBLE = 34;
const SINGLE = 39;
const SLASH = 47;
const EQUALS = 61;
const GREATER = 62;
const QUERY = 63;

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);
const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;
const endsName = (code: number): boolean => isBlank(code) || code === SLASH || code === GREATER;
const endsAttribute = (code: number): boolean => endsName(code) || code === EQUALS;
const endsValue = (code: number): boolean => isBlank(code) || code === GREATER;
