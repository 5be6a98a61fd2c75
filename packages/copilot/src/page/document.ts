/**
 * One pass over HTML. All visible text goes into one string, and every relevant element stores its start and end in it, so
 * that the text of an element, its label or its row is one slice, however deeply the page is nested.
 */

import { numberedId } from './page.ts';
import { roleOf } from './roles.ts';

/** Positions in the text; `end` is set when the element ends. */
export type Range = { readonly start: number; end: number };

export type OptionDraft = { readonly attributes: Attributes; text: string; readonly disabled: boolean };

export type ElementDraft = Range & {
  readonly id: number;
  readonly tag: string;
  readonly role: string;
  readonly attributes: Attributes;
  readonly raw: string;
  readonly disabled: boolean;
  readonly options: OptionDraft[] | null;
  /** of a select: its text outside of options, which some clients send without tags */
  readonly loose: { text: string } | null;
  /** text of an option, which is not part of the page's text */
  readonly choice: OptionDraft | null;
  /** of an option: the number of its select */
  readonly list: number | null;
  readonly wrapper: Range | null;
  readonly group: Range | null;
};

export type Document = {
  readonly title: string;
  /** blocks are lines, cells of a row are separated by tabs */
  readonly text: string;
  readonly elements: readonly ElementDraft[];
  readonly ids: ReadonlyMap<string, Range>;
  readonly labels: ReadonlyMap<string, Range>;
};

type Entry = {
  readonly kind: Kind;
  /** its content is invisible */
  readonly hidden: boolean;
  /** its content is not part of the page */
  readonly dropped: boolean;
  readonly disabled: boolean;
  /** preserves line breaks */
  readonly asWritten: boolean;
  readonly wrapper: Range | null;
  readonly group: Range | null;
  /** elements that end with it */
  readonly range: Range | null;
  readonly draft: ElementDraft | null;
};

const GROUPS = new Set(['li', 'tr', 'article', 'fieldset', 'dialog']);
const GROUP_ROLES = new Set(['listitem', 'row', 'article', 'radiogroup', 'dialog', 'alertdialog']);
const LINES = /[\n\t\r\f]/;
const BLANKS = /[ \n\t\r\f]+/g;
const OPTIONS_READ = 2_000;
const OPTION_TEXT = 400;
const LOOSE_TEXT = 2_000;

export function readDocument(html: string): Document {
  const elements: ElementDraft[] = [];
  const taken = new Set<number>();
  const ids = new Map<string, Range>();
  const labels = new Map<string, Range>();
  let title: string | null = null;
  let text = '';
  /** the text ends with a break, or is empty */
  let broken = true;
  let options: OptionDraft[] | null = null;
  let option: OptionDraft | null = null;
  /** the text of the open select outside of its options */
  let loose: { text: string } | null = null;
  /** number of the open select */
  let list: number | null = null;

  const say = (part: string) => {
    text += part;
    broken = false;
  };
  const flow = (part: string) => {
    const flat = LINES.test(part) ? part.replace(BLANKS, ' ') : part;
    if (!broken || flat !== ' ') say(flat);
  };
  const breakLine = () => {
    if (!broken) text += '\n';
    broken = true;
  };
  const open = new OpenElements<Entry>(({ kind, hidden, range, draft }) => {
    if (range) range.end = text.length;
    if (draft) draft.end = text.length;
    if (kind.tag === 'select') options = null;
    if (kind.tag === 'select' || kind.tag === 'option') option = null;
    else if (kind.isCell && !hidden) say('\t');
    else if (kind.isBlock && !hidden) breakLine();
  });

  readHtml(html, {
    text(part) {
      const inside = open.top;
      if (inside?.hidden) return;
      if (option) option.text = (option.text + part).slice(0, OPTION_TEXT);
      else if (options === null && inside?.asWritten) say(part);
      else if (options === null) flow(part);
      else if (loose) loose.text = (loose.text + part).slice(0, LOOSE_TEXT);
    },
    close(tag) {
      if (tag !== 'br') open.end(open.kind(tag));
      else if (!open.top?.hidden) breakLine();
    },
    open(tag, attributes, { closed, raw }) {
      const kind = open.kind(tag);
      if (tag === 'title' && title === null && !open.top?.dropped) title = raw;
      open.makeRoomFor(kind);
      const outer = open.top;
      const dropped = outer?.dropped === true;
      const hidden = outer?.hidden === true || tag === 'title' || isHidden(tag, attributes);
      if (!hidden && ((kind.isBlock && !kind.isCell && tag !== 'option') || tag === 'br')) breakLine();

      const start = text.length;
      const disabled = outer?.disabled === true || (tag === 'fieldset' && attributes.has('disabled'));
      const own: OptionDraft[] | null = tag === 'select' && !hidden ? [] : null;
      if (own) {
        options = own;
        loose = { text: '' };
        list = null;
      }
      if (tag === 'option' && !hidden) option = optionOf(attributes, options);

      const id = dropped ? undefined : attributes.get('id');
      const isGroup = GROUPS.has(tag) || GROUP_ROLES.has(attributes.get('role') ?? '');
      const isLabel = tag === 'label';
      const range = isGroup || isLabel || id !== undefined ? { start, end: start } : null;
      if (range && id !== undefined && !ids.has(id)) ids.set(id, range);
      const target = isLabel && !hidden ? attributes.get('for') : undefined;
      if (range && target !== undefined && !labels.has(target)) labels.set(target, range);

      let draft: ElementDraft | null = null;
      const number = numberedId(id);
      if (number !== null && !taken.has(number)) {
        taken.add(number);
        if (!hidden) {
          draft = {
            id: number,
            tag,
            role: roleOf(tag, (name) => attributes.get(name)),
            start,
            end: start,
            attributes,
            raw,
            disabled,
            options: own,
            loose: own && loose,
            choice: tag === 'option' ? option : null,
            list: tag === 'option' && options ? list : null,
            wrapper: outer?.wrapper ?? null,
            group: outer?.group ?? null,
          };
          elements.push(draft);
          if (own) list = number;
        }
      }
      const described = hidden ? '' : alternativeText(tag, attributes);
      if (described !== '') say(described);
      if (closed || kind.isVoid) {
        if (range) range.end = text.length;
        if (draft) draft.end = text.length;
        if (tag === 'select') options = null;
        if (tag === 'option') option = null;
        return;
      }
      open.push({
        kind,
        hidden: hidden || kind.isDropped,
        dropped: dropped || kind.isDropped,
        disabled,
        asWritten: tag === 'pre' || outer?.asWritten === true,
        wrapper: isLabel ? range : (outer?.wrapper ?? null),
        group: isGroup ? range : (outer?.group ?? null),
        range,
        draft,
      });
    },
  });
  open.endAll();
  return { title: title ?? '', text, elements, ids, labels };
}

function optionOf(attributes: Attributes, options: OptionDraft[] | null): OptionDraft | null {
  if (!options || options.length >= OPTIONS_READ) return null;
  const option = { attributes, text: '', disabled: attributes.has('disabled') };
  options.push(option);
  return option;
}

/** Images are represented by their descriptions. */
function alternativeText(tag: string, attributes: Attributes): string {
  const said =
    tag === 'img' ? attributes.get('alt') : tag === 'svg' ? attributes.get('aria-label') : undefined;
  return said === undefined || said === '' ? '' : ` ${said.slice(0, OPTION_TEXT)} `;
}

const UNSEEN = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b/i;

function isHidden(tag: string, attributes: Attributes): boolean {
  if (attributes.size === 0) return tag === 'dialog';
  if (tag === 'dialog' && !attributes.has('open') && attributes.get('aria-modal') !== 'true') return true;
  if (tag === 'input' && attributes.get('type')?.toLowerCase() === 'hidden') return true;
  if (attributes.get('hidden') !== undefined || attributes.has('inert')) return true;
  if (attributes.get('aria-hidden')?.toLowerCase() === 'true') return true;
  const style = attributes.get('style');
  return style !== undefined && UNSEEN.test(style);
}

/**
 * Splits HTML into tags and text, in one pass and without failing: what cannot be a tag is text, what is not closed ends with
 * the source. Bun's HTMLRewriter is not used: 1 MB of nested tags takes it three seconds, and it does not report text outside
 * of elements.
 */

type Attributes = ReadonlyMap<string, string>;

type Content = {
  /** there is no end tag */
  readonly closed: boolean;
  /** the decoded text of a textarea or a title, which contain no tags */
  readonly raw: string;
};

const EMPTY: Content = { closed: true, raw: '' };
const FOLLOWS: Content = { closed: false, raw: '' };

type HtmlSink = {
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

function readHtml(source: string, sink: HtmlSink): void {
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

/** HTML character references: Latin letters, common punctuation and all numeric ones. Others stay as they are. */

const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot ' +
  'cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml ' +
  'Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig ' +
  'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ' +
  'ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';

/** A name, then its character. */
const SYMBOLS =
  'amp & lt < gt > quot " apos \' AMP & LT < GT > QUOT " hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” sbquo ‚ ' +
  'bdquo „ lsaquo ‹ rsaquo › bull • trade ™ euro € prime ′ Prime ″ larr ← uarr ↑ rarr → darr ↓ harr ↔ check ✓ cross ✗ ' +
  'star ☆ starf ★ zwnj \u200c zwj \u200d minus − ne ≠ le ≤ ge ≥ OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ infin ∞ ' +
  'permil ‰ dagger † lbrack [ rbrack ] lpar ( rpar ) num # excl ! quest ? colon : semi ; comma , period . sol / bsol \\ ' +
  'lowbar _ vert | dollar $ percnt % plus + equals = ast * commat @ hyphen ‐ grave `';

const NAMED = new Map<string, string>([
  ...LATIN.split(' ').map((name, index): [string, string] => [name, String.fromCharCode(160 + index)]),
  ...[...SYMBOLS.matchAll(/(\S+) (\S+)/g)].map(([, name = '', sign = '']): [string, string] => [name, sign]),
  ...Object.entries({ ensp: ' ', emsp: ' ', thinsp: ' ', Tab: '\t', NewLine: '\n' }),
]);

const REFERENCE = /&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,8})|([a-zA-Z][a-zA-Z0-9]{1,31}))(;?)/g;
/** Valid without the semicolon, as in browsers. */
const BARE = new Set(['amp', 'lt', 'gt', 'quot', 'AMP', 'LT', 'GT', 'QUOT', 'copy', 'reg', 'nbsp']);
/** Numbers 128 to 159 mean Windows-1252. */
const windows = new TextDecoder('windows-1252');

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (whole: string, ...groups: (string | undefined)[]) => {
    const [decimal, hex, name, end] = groups;
    if (name === undefined)
      return characterOf(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
    if (end !== ';' && !BARE.has(name)) return whole;
    return NAMED.get(name) ?? whole;
  });
}

function characterOf(code: number): string {
  if (code >= 128 && code < 160) return windows.decode(Uint8Array.of(code));
  const impossible = code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
  return impossible ? '\ufffd' : String.fromCodePoint(code);
}

/** The stack of open elements while HTML is parsed, with implied end tags as in browsers. */

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const VOID = words(
  'area base br col embed hr img input link meta param source track wbr frame basefont bgsound',
);
const BLOCKS = words(
  'address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section select summary table ' +
    'tbody td tfoot th thead tr ul',
);
/** The end tag of a phrase does not close its container: `<a><div></a>` leaves the div open. */
const PHRASES = words(
  'a abbr b bdi bdo cite code em font i kbd label mark q s small span strong sub sup u var',
);
const ENDS_PARAGRAPH = words(
  'address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol ' +
    'p pre section table ul',
);
const ENDS = new Map([
  ['li', words('li')],
  ['option', words('option')],
  ['optgroup', words('option optgroup')],
  ['tr', words('tr')],
  ['td', words('td th')],
  ['th', words('td th')],
  ['dt', words('dt dd')],
  ['dd', words('dt dd')],
  ['a', words('a')],
  ['button', words('button')],
  ['select', words('select')],
  ['input', words('select')],
  ['textarea', words('select')],
]);
const PARAGRAPH = words('p');
/** Boundaries for unclosed tags. */
const WALLS = words('ul ol menu dl select table div section article form body html');
const DROPPED = words(
  'script style noscript template svg math iframe object canvas datalist noembed noframes',
);
const MAX_DISTANCE = 64;

/** Properties of a tag, looked up once per occurrence. */
type Kind = {
  readonly tag: string;
  readonly isVoid: boolean;
  readonly isBlock: boolean;
  readonly isCell: boolean;
  readonly isPhrase: boolean;
  readonly isWall: boolean;
  /** its content is not part of the page */
  readonly isDropped: boolean;
  readonly ends: ReadonlySet<string> | null;
  open: number;
};

const kindOf = (tag: string): Kind => ({
  tag,
  isVoid: VOID.has(tag),
  isBlock: BLOCKS.has(tag),
  isCell: tag === 'td' || tag === 'th',
  isPhrase: PHRASES.has(tag),
  isWall: WALLS.has(tag),
  isDropped: DROPPED.has(tag),
  ends: ENDS.get(tag) ?? (ENDS_PARAGRAPH.has(tag) ? PARAGRAPH : null),
  open: 0,
});

class OpenElements<Entry extends { readonly kind: Kind }> {
  readonly #entries: Entry[] = [];
  readonly #kinds = new Map<string, Kind>();
  readonly #closed: (entry: Entry) => void;

  /** `closed` is called for every element that ends, innermost first. */
  constructor(closed: (entry: Entry) => void) {
    this.#closed = closed;
  }

  get top(): Entry | undefined {
    return this.#entries[this.#entries.length - 1];
  }

  kind(tag: string): Kind {
    let kind = this.#kinds.get(tag);
    if (!kind) {
      kind = kindOf(tag);
      this.#kinds.set(tag, kind);
    }
    return kind;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    entry.kind.open++;
  }

  /** Before an element opens: closes those that cannot contain it. */
  makeRoomFor({ ends }: Kind): void {
    if (!ends || !this.#anyOpen(ends)) return;
    const lowest = Math.max(0, this.#entries.length - MAX_DISTANCE);
    for (let index = this.#entries.length - 1; index >= lowest; index--) {
      const kind = this.#entries[index]?.kind;
      if (kind && ends.has(kind.tag)) {
        this.#endDownTo(index);
        return;
      }
      if (kind?.isWall) return;
    }
  }

  /** An unmatched end tag is ignored; the count avoids a search. */
  end(kind: Kind): void {
    if (kind.open === 0) return;
    const lowest = kind.isPhrase ? Math.max(0, this.#entries.length - MAX_DISTANCE) : 0;
    for (let index = this.#entries.length - 1; index >= lowest; index--) {
      const open = this.#entries[index]?.kind;
      if (open === kind) {
        this.#endDownTo(index);
        return;
      }
      if (kind.isPhrase && open?.isBlock) return;
    }
  }

  endAll(): void {
    this.#endDownTo(0);
  }

  #anyOpen(tags: ReadonlySet<string>): boolean {
    for (const tag of tags) if ((this.#kinds.get(tag)?.open ?? 0) > 0) return true;
    return false;
  }

  #endDownTo(index: number): void {
    while (this.#entries.length > index) {
      const entry = this.#entries.pop();
      if (!entry) return;
      entry.kind.open--;
      this.#closed(entry);
    }
  }
}
