/** Virtualised rows of a session. Follows the end while the reader is there. */

import type { BlockView, CallView, Item } from '@parlance/sdk';
import { elementScroll, useVirtualizer } from '@tanstack/react-virtual';
import type { Token } from 'marked';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useDistantCard } from '../components/approval/use-keys.ts';
import { Button, IconButton, rememberOpened, wasOpened } from '../components/controls.tsx';
import { type Lexed, lexedForPages } from '../markdown/lex.ts';
import { MarkdownBlocks } from '../markdown/markdown.tsx';
import { RowView } from './row.tsx';
import { type Row, rowWith } from './rows.ts';
import { RunLine } from './run-line.tsx';
import { foldedRows, type RunRow } from './runs.ts';

type ShownRow = Row | RunRow | PartRow;

/** Space below the last row. */
const PADDING_END = 24;

/** How long a scroll event may follow what the reader did. */
const ACTING_MS = 1_000;
const ACTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;
const SCROLL_KEYS: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home', ' ']);

/** Distance in pixels from the end at which the last line is in view. */
const NEAR = PADDING_END + 16;

const ESTIMATES: Readonly<Record<ShownRow['kind'], number>> = {
  input: 84,
  queued: 84,
  sending: 84,
  item: 110,
  run: 48,
  part: 900,
  between: 44,
  end: 48,
  paused: 40,
  working: 40,
};

type TranscriptProps = {
  readonly session: string;
  readonly rows: readonly Row[];
  /** the number of an event to show, such as one that a search has found; 0: the end */
  readonly target?: number;
  /** an approval is pending */
  readonly needsApproval?: boolean;
};

const isPending = (row: ShownRow): boolean =>
  row.kind === 'item' && row.item.kind === 'call' && row.item.approval?.state.status === 'pending';

const FOLDING = {
  isOpen: (key: string) => wasOpened(key) === true,
  isRead: ({ call }: CallView) => wasOpened(`call ${call}`) === true,
};

const isRunOf = (row: ShownRow, member: Row): row is RunRow =>
  row.kind === 'run' && row.members.includes(member);

export function Transcript({ session, rows: all, target = 0, needsApproval = false }: TranscriptProps) {
  /** the reader is at the end: what grows is followed */
  const follows = useRef(true);
  /** counts what the reader opens and closes */
  const [toggles, setToggles] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: which runs are open is remembered elsewhere
  const { rows, inside } = useMemo(() => {
    const folded = foldedRows(all, FOLDING);
    return { rows: divided(folded.rows), inside: folded.inside };
  }, [all, toggles]);
  const toggle = useCallback((key: string, open: boolean) => {
    // The reader looks at what has opened, which is now far from the end.
    if (open) follows.current = false;
    rememberOpened(key, open);
    setToggles((count) => count + 1);
  }, []);
  const scroller = useRef<HTMLElement>(null);
  const [away, setAway] = useState(false);
  /** where the view was when last looked at, and when the reader last did something that scrolls */
  const seen = useRef({ top: 0, height: 0, actedAt: Number.NEGATIVE_INFINITY });
  // A new function makes the virtualizer compute the positions of all rows again.
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey,
    estimateSize: (index) => ESTIMATES[rows[index]?.kind ?? 'item'],
    overscan: 4,
    paddingStart: 16,
    // The outline of a message that a search has found is in view.
    scrollPaddingStart: 16,
    paddingEnd: PADDING_END,
    // Rows above the view that were measured move it: that is not the reader either.
    scrollToFn: (offset, options, instance) => {
      elementScroll(offset, options, instance);
      seen.current.top = scroller.current?.scrollTop ?? 0;
    },
  });

  /** Rows that are measured on the way change where the end is: it is reached by following it. */
  const toEnd = useCallback(() => {
    list.cancelScroll();
    follows.current = true;
    seen.current.actedAt = Number.NEGATIVE_INFINITY;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [list]);

  // Who sends a message wants to see it and its answer.
  const last = rows.at(-1);
  const sent = last?.kind === 'sending' ? last.key : null;
  useLayoutEffect(() => {
    if (sent !== null) toEnd();
  }, [sent, toEnd]);

  const scrollToRow = (index: number, align: 'start' | 'end') => {
    follows.current = false;
    list.scrollToIndex(index, { align });
  };
  const pending = needsApproval ? rows.findLastIndex(isPending) : -1;
  const showPending = () => scrollToRow(pending, 'end');
  useDistantCard(pending >= 0, showPending);

  const wanted = target > 0 ? all[rowWith(all, target)] : undefined;
  const found = wanted ? rows.findIndex(({ key }) => key === wanted.key) : -1;
  const folding = found < 0 && wanted ? rows.find((row) => isRunOf(row, wanted))?.key : undefined;
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (folding !== undefined && shown !== target) toggle(folding, true);
  }, [folding, shown, target, toggle]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each target
  useEffect(() => {
    if (found < 0 || shown === target) return;
    setShown(target);
    scrollToRow(found, 'start');
  }, [found, target, shown]);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    Object.assign(seen.current, { top: element.scrollTop, height: element.scrollHeight });
    const update = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      const { top, height, actedAt } = seen.current;
      const below = scrollHeight - scrollTop - clientHeight;
      // Rows that shrink and grow move the view up, too: that is not a reader who leaves the end.
      const byReader = scrollHeight === height || performance.now() < actedAt + ACTING_MS;
      if (scrollTop > top && below <= NEAR) follows.current = true;
      // What is at the end after rows have shrunk is followed again.
      else if (scrollTop < top && (below <= 1 || byReader)) follows.current = below <= 1;
      Object.assign(seen.current, { top: scrollTop, height: scrollHeight });
      setAway(below > NEAR);
    };
    const act = (event: Event) => {
      if (event instanceof KeyboardEvent && !SCROLL_KEYS.has(event.key)) return;
      // The scroll bar, and nothing inside.
      if (event.type === 'pointerdown' && event.target !== element) return;
      seen.current.actedAt = performance.now();
    };
    // Rows that are new, grow or are measured, and what appears below the transcript and makes it smaller.
    const resized = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
      update();
    });
    element.addEventListener('scroll', update, { passive: true });
    for (const type of ACTS) element.addEventListener(type, act, { passive: true });
    resized.observe(element);
    if (element.firstElementChild) resized.observe(element.firstElementChild);
    return () => {
      element.removeEventListener('scroll', update);
      for (const type of ACTS) element.removeEventListener(type, act);
      resized.disconnect();
    };
  }, []);

  const items = list.getVirtualItems();
  return (
    <div className="transcript-frame">
      <h2 className="unseen">Conversation</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className="transcript" ref={scroller} aria-label="Conversation" tabIndex={0}>
        <div className="transcript-size" style={{ height: list.getTotalSize() }}>
          <div className="transcript-rows" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ key, index }) => {
              const row = rows[index];
              return (
                row && (
                  <div
                    key={key}
                    data-index={index}
                    ref={list.measureElement}
                    className="row"
                    data-found={index === found || undefined}
                    data-continues={(row.kind === 'part' && !row.isFirst) || undefined}
                    data-inside={(row.kind === 'item' && inside.has(row)) || undefined}
                  >
                    {row.kind === 'part' ? (
                      <MarkdownBlocks blocks={row.blocks} open={row.open} />
                    ) : row.kind === 'run' ? (
                      <RunLine run={row} onToggle={toggle} />
                    ) : (
                      <RowView session={session} row={row} />
                    )}
                  </div>
                )
              );
            })}
          </div>
        </div>
      </section>
      {away &&
        (pending >= 0 ? (
          <Button className="to-end" icon="down" onClick={showPending}>
            Needs approval
          </Button>
        ) : (
          <IconButton className="to-end" icon="down" label="Jump to latest" onClick={toEnd} />
        ))}
    </div>
  );
}

// Long texts as several rows of the virtualised list, so that only the parts in view are in the document.

type PartRow = {
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

const divided = (rows: readonly (Row | RunRow)[]): readonly ShownRow[] =>
  rows.flatMap((row): readonly ShownRow[] =>
    row.kind === 'item' && row.item.kind === 'text' && row.item.text.length > LONG_TEXT
      ? partRows(row.item, row.key)
      : [row],
  );

function partRows(item: BlockView, key: string): readonly PartRow[] {
  const done = known.get(item);
  if (done) return done.rows;
  const before = growing.get(key);
  const isOpen = item.state === 'open';
  const lexed = lexedForPages(before?.lexed ?? null, item.text, !isOpen);
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
