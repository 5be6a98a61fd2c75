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
export type Kind = {
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

export class OpenElements<Entry extends { readonly kind: Kind }> {
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
