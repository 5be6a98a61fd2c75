/**
 * One pass over HTML. All visible text goes into one string, and every relevant element stores its start and end in it, so
 * that the text of an element, its label or its row is one slice, however deeply the page is nested.
 */
import { type Attributes, readHtml } from './html.ts';
import { numberedId } from './page.ts';
import { roleOf } from './roles.ts';
import { type Kind, OpenElements } from './tree.ts';

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
