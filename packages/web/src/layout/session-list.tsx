/** A list of sessions of any length: only the rows in view are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import { useServer } from '../state/server.ts';
import type { ListedSession } from '../state/session-order.ts';
import { SessionRow } from './session-row.tsx';
import { type ListRow, sectionsOf, sessionRows } from './session-rows.ts';

type Row = ListRow<ListedSession>;

const HEIGHTS: Readonly<Record<Row['kind'], number>> = { heading: 31, session: 34 };
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
  const { id: mine, permissions } = useServer().principal;
  const mayChange = permissions.includes('chat:send');
  const today = new Date().toDateString();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another day has other headings
  const rows = useMemo(
    () => sessionRows({ sorted: sessions, pinned }, new Date()),
    [sessions, pinned, today],
  );
  // A new function makes the virtualizer compute the positions of all rows again.
  const getItemKey = useCallback((index: number) => keyOf(rows.at(index)) ?? index, [rows]);
  const list = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => HEIGHTS[rows.at(index)?.kind ?? 'session'],
    getItemKey,
    overscan: 8,
  });
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
                <h2 className="session-day" data-index={heading.index} ref={list.measureElement}>
                  {group}
                </h2>
              )}
              <ul>
                {items.map(({ index, row }) => (
                  <li key={keyOf(row)} data-index={index} ref={list.measureElement}>
                    {row.kind === 'session' && (
                      <SessionRow
                        session={row.session}
                        chosen={row.session.id === chosen}
                        foreign={row.session.owner !== mine}
                        mayChange={mayChange}
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
    </div>
  );
}

function keyOf(row: Row | undefined): string | undefined {
  return row?.kind === 'session' ? row.session.key : row?.group;
}
