/** Virtualised list of rows. Follows the end while the reader is there. */
import { Button, copyText, toast } from '@parlance/ui/components/controls.tsx';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { EventCell, FrameCell, NoteCell } from './cell.tsx';
import type { NumberedFrame, Row, ShellCommand } from './rows.ts';

type ListProps = {
  readonly rows: readonly Row[];
  readonly label: string;
  readonly columns: 1 | 2;
  readonly indented: boolean;
  /** the command that sends a frame from a terminal */
  readonly command: (frame: NumberedFrame) => ShellCommand | null;
  /** the event to go to; a new object goes there again */
  readonly target?: { readonly seq: number } | null;
  /** the page itself is the client of these frames */
  readonly ours?: boolean;
};

const LINE = 30;
/** Distance in pixels that counts as being at the end. */
const NEAR = 40;

export function EntryList({
  rows,
  label,
  columns,
  indented,
  command,
  target = null,
  ours = false,
}: ListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string | null>(null);
  const [atEnd, setAtEnd] = useState(true);
  const wanted = useRef<string | null>(null);
  /** just expanded: scroll it into view */
  const unfolding = useRef<string | null>(null);

  // A new function makes the virtualizer compute the positions of all rows again.
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 15,
    getItemKey,
  });

  const toggle = useCallback((id: string) => {
    setCurrent(id);
    unfolding.current = id;
    setUnfolded((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);

  // Follow new rows while at the end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new rows move the list
  useLayoutEffect(() => {
    if (atEnd && rows.length > 0) list.scrollToIndex(rows.length - 1, { align: 'end' });
  }, [rows]);

  useEffect(() => {
    const id = unfolding.current;
    unfolding.current = null;
    if (id !== null && unfolded.has(id))
      articleOf(scroller.current, id)?.scrollIntoView({ block: 'nearest' });
  }, [unfolded]);

  const targetRow = useMemo(
    () => (target === null ? -1 : rows.findIndex(({ event }) => event?.seq === target.seq)),
    [rows, target],
  );
  const isListed = targetRow >= 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new target moves the list, or one that is listed now
  useEffect(() => {
    if (isListed) move({ row: targetRow, column: 'event' });
  }, [target, isListed]);

  // The target of a key is rendered only after the list has scrolled there.
  useEffect(() => {
    const id = wanted.current;
    const element = id === null ? null : scroller.current?.querySelector<HTMLElement>(selectorOf(id));
    if (!element) return;
    wanted.current = null;
    element.focus({ preventScroll: true });
  });

  function place(): Entry | null {
    const id = document.activeElement?.getAttribute('data-entry') ?? null;
    const column = id?.startsWith('frame:') ? 'frame' : 'event';
    const row = id === null ? -1 : rows.findIndex((row) => entryId(row, column) === id);
    return row < 0 ? null : { row, column };
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = place();
    if (!from) {
      if (event.target !== scroller.current || event.key !== 'ArrowDown') return;
      const first = list.getVirtualItems().find(({ end }) => end > (list.scrollOffset ?? 0))?.index ?? 0;
      const entry =
        nearest(rows, { row: first, column: 'event' }) ?? nearest(rows, { row: first, column: 'frame' });
      if (entry) move(entry);
      event.preventDefault();
      return;
    }
    if (event.key === 'c' || event.key === 'w') {
      void copy(from, event.key);
      return;
    }
    const to = moved(rows, from, event.key);
    if (!to && !/^(Arrow|Home|End)/.test(event.key)) return;
    event.preventDefault();
    if (to) move(to);
  }

  function move({ row: index, column }: Entry): void {
    const row = rows[index];
    if (!row) return;
    const id = entryId(row, column);
    wanted.current = id;
    list.scrollToIndex(index);
    setCurrent(id);
  }

  async function copy({ row: index, column }: Entry, key: 'c' | 'w'): Promise<void> {
    const row = rows[index];
    const entry = row?.[column];
    if (!row || !entry) return;
    const shell = key === 'w' && row.frame && column === 'frame' ? command(row.frame) : null;
    if (key === 'w' && shell === null) return;
    const exact = column === 'frame' ? (row.frame?.text ?? '') : JSON.stringify(row.event);
    if (await copyText(shell?.text ?? exact))
      toast(shell === null ? `Copied the ${column}.` : `Copied as ${shell.tool}.`);
  }

  function onScroll(): void {
    const element = scroller.current;
    if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
  }

  const shared = (id: string) => ({
    id,
    open: unfolded.has(id),
    current: current === id,
    indented,
    onToggle: toggle,
  });

  return (
    <div className="entries-frame">
      <section
        className="entries"
        aria-label={label}
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div className="entries-all" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={key}
                data-index={index}
                ref={list.measureElement}
                className={`entries-row entries-row-${columns}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                {row.note && <NoteCell note={row.note} />}
                {row.event ? (
                  <EventCell event={row.event} {...shared(entryId(row, 'event'))} />
                ) : (
                  columns === 2 && <div />
                )}
                {row.frame && (
                  <FrameCell
                    frame={row.frame}
                    command={command}
                    ours={ours}
                    {...shared(entryId(row, 'frame'))}
                  />
                )}
              </div>
            );
          })}
        </div>
      </section>
      {!atEnd && (
        <Button
          className="entries-end"
          icon="down"
          onClick={() => list.scrollToIndex(rows.length - 1, { align: 'end' })}
        >
          To the end
        </Button>
      )}
    </div>
  );
}

const articleOf = (list: HTMLElement | null, id: string): Element | null =>
  list?.querySelector(selectorOf(id))?.closest('article') ?? null;

const selectorOf = (id: string): string => `[data-entry="${CSS.escape(id)}"]`;

// Keyboard navigation through the cells of two columns.

type Column = 'event' | 'frame';
export type Entry = { readonly row: number; readonly column: Column };

const entryId = ({ key }: Row, column: Column): string => `${column}:${key}`;

/** The nearest entry of a column from a row on, in a direction; null if there is none. */
function nearest(rows: readonly Row[], { row: from, column }: Entry, step: 1 | -1 = 1): Entry | null {
  for (let row = from; row >= 0 && row < rows.length; row += step)
    if (rows[row]?.[column]) return { row, column };
  return null;
}

const other = (column: Column): Column => (column === 'event' ? 'frame' : 'event');

/** The entry that a key moves to; null if it does not move. */
export function moved(rows: readonly Row[], { row, column }: Entry, key: string): Entry | null {
  switch (key) {
    case 'ArrowDown':
      return nearest(rows, { row: row + 1, column });
    case 'ArrowUp':
      return nearest(rows, { row: row - 1, column }, -1);
    case 'Home':
      return nearest(rows, { row: 0, column });
    case 'End':
      return nearest(rows, { row: rows.length - 1, column }, -1);
    case 'ArrowLeft':
    case 'ArrowRight': {
      if ((key === 'ArrowLeft') === (column === 'event')) return null;
      const beside = { row, column: other(column) };
      return nearest(rows, beside, -1) ?? nearest(rows, beside);
    }
    default:
      return null;
  }
}
