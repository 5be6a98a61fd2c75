/** A list of sessions of any length: only the rows in view are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useServer } from '../state/server.ts';
import type { ListedSession } from '../state/session-order.ts';
import { type OpenDialog, SessionDialog } from './session-dialog.tsx';
import { SessionRow } from './session-row.tsx';
import { sectionsOf, sessionRows, shiftOf } from './session-rows.ts';

/** Height of a row before it is measured. */
const ROW_HEIGHT = 34;
/** Distance from the end, in rows, at which the next page is read. */
const AHEAD = 40;

type SessionListProps = {
  /** without the pinned ones */
  readonly sessions: readonly ListedSession[];
  readonly pinned: readonly ListedSession[];
  readonly chosen: string | null;
  /** reads the next page; null if there is none to read by scrolling */
  readonly more: (() => void) | null;
  /** below the sessions */
  readonly children: ReactNode;
};

export function SessionList({ sessions, pinned, chosen, more, children }: SessionListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const { id: mine, permissions } = useServer().principal;
  const mayChange = permissions.includes('chat:send');
  const today = new Date().toDateString();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another day has other headings
  const rows = useMemo(
    () => sessionRows({ sorted: sessions, pinned }, new Date()),
    [sessions, pinned, today],
  );
  // Keys would be computed for all rows after each change. Without them, only the rows in view are looked at.
  const list = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  // A height belongs to a place in the list, and another session may have moved there.
  useLayoutEffect(() => {
    for (const row of scroller.current?.querySelectorAll<HTMLElement>('[data-index]') ?? [])
      if (row.offsetHeight > 0) list.resizeItem(Number(row.dataset.index), row.offsetHeight);
  });
  const shown = useRef(rows);
  // The sessions in view stay in place, unless the newest one is in view.
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = rows;
    const first = list.range?.startIndex ?? 0;
    const shift = before === rows || first === 0 ? 0 : shiftOf(before, rows, first);
    if (shift === 0 || !scroller.current) return;
    const topOf = (index: number) => list.measurementsCache[index]?.start ?? 0;
    scroller.current.scrollTop += topOf(first + shift) - topOf(first);
  }, [rows, list]);
  const items = list.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.count - AHEAD;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page may not fill the list
  useEffect(() => {
    if (isNearEnd) more?.();
  }, [isNearEnd, more, rows]);

  const inView = items.flatMap(({ index }) => {
    const row = rows.at(index);
    return row ? [{ index, row }] : [];
  });
  return (
    <div className="session-list" ref={scroller}>
      <div className="session-rows" style={{ height: list.getTotalSize() }}>
        <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {sectionsOf(inView).map(({ group, heading, items }) => (
            <section key={group} aria-label={group}>
              {heading && (
                <h2 className="session-day" data-index={heading.index}>
                  {group}
                </h2>
              )}
              <ul>
                {items.map(({ index, row }) => (
                  <li key={row.kind === 'session' ? row.session.key : row.group} data-index={index}>
                    {row.kind === 'session' && (
                      <SessionRow
                        session={row.session}
                        chosen={row.session.id === chosen}
                        foreign={row.session.owner !== mine}
                        mayChange={mayChange}
                        onOpen={setOpen}
                      />
                    )}
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
      {children}
      {open && <SessionDialog open={open} onClose={() => setOpen(null)} />}
    </div>
  );
}
