/** Long texts as several rows of the virtualised list, so that only the parts in view are in the document. */
import type { BlockView, Item } from '@parlance/sdk';
import type { Token } from 'marked';
import type { Lexed } from '../../markdown/lex.ts';
import { lexedWithMath } from '../../markdown/math-lex.ts';
import type { Row } from './rows.ts';

export type PartRow = {
  /** the first part has the key of the row that is divided */
  readonly key: string;
  readonly kind: 'part';
  readonly blocks: readonly Token[];
  readonly isFirst: boolean;
  /** more text is coming */
  readonly open: boolean;
};

/** Longer texts are divided. */
const LONG_TEXT = 8_000;
/** A part ends after the block that reaches one of these. */
const PART = { length: 2_000, blocks: 24 };

type Divided = { readonly lexed: Lexed; readonly rows: readonly PartRow[] };

const known = new WeakMap<Item, Divided>();
/** Texts that grow, by key: only what is new is parsed. */
const growing = new Map<string, Divided>();
const MAX_GROWING = 8;

export const divided = (rows: readonly Row[]): readonly (Row | PartRow)[] =>
  rows.flatMap((row): readonly (Row | PartRow)[] =>
    row.kind === 'item' && row.item.kind === 'text' && row.item.text.length > LONG_TEXT
      ? partRows(row.item, row.key)
      : [row],
  );

function partRows(item: BlockView, key: string): readonly PartRow[] {
  const done = known.get(item);
  if (done) return done.rows;
  const before = growing.get(key);
  const isOpen = item.state === 'open';
  const lexed = lexedWithMath(before?.lexed ?? null, item.text, !isOpen);
  const rows = partsOf(lexed.blocks).map((blocks, index, { length }): PartRow => {
    const open = isOpen && index === length - 1;
    const same = before?.rows[index];
    if (same?.open === open && hasBlocks(same, blocks)) return same;
    return { key: index === 0 ? key : `${key} ${index}`, kind: 'part', blocks, isFirst: index === 0, open };
  });
  const result = { lexed, rows };
  known.set(item, result);
  growing.delete(key);
  // An ended text is another item with the same key.
  growing.set(key, result);
  const [oldest] = growing.keys();
  if (growing.size > MAX_GROWING && oldest !== undefined) growing.delete(oldest);
  return rows;
}

const hasBlocks = ({ blocks }: PartRow, wanted: readonly Token[]): boolean =>
  blocks.length === wanted.length && blocks.every((block, index) => block === wanted[index]);

/** The same parts for a text that has grown, except for the last ones. */
function partsOf(blocks: readonly Token[]): Token[][] {
  const parts: Token[][] = [];
  let length = 0;
  for (const block of blocks) {
    const last = parts.at(-1);
    // Blank lines end a part and begin none.
    const fits = block.type === 'space' || (length < PART.length && (last?.length ?? 0) < PART.blocks);
    if (last && fits) last.push(block);
    else {
      parts.push([block]);
      length = 0;
    }
    length += block.raw.length;
  }
  return parts;
}
