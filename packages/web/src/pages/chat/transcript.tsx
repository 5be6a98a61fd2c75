/** Virtualised rows of a session. Follows the end while the reader is there. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useDistantCard } from '../../components/approval/use-keys.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { RowView } from './row.tsx';
import { type Row, rowWith } from './rows.ts';

/** Distance in pixels that counts as being at the end. */
const NEAR = 60;

/** How long rows are measured again after the width has changed. */
const SETTLING_MS = 400;

const ESTIMATES: Readonly<Record<Row['kind'], number>> = {
  input: 84,
  queued: 84,
  sending: 84,
  item: 110,
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

const isPending = (row: Row): boolean =>
  row.kind === 'item' && row.item.kind === 'call' && row.item.approval?.state.status === 'pending';

export function Transcript({ session, rows, target = 0, needsApproval = false }: TranscriptProps) {
  const scroller = useRef<HTMLElement>(null);
  const begun = useRef(false);
  const [away, setAway] = useState(false);
  // A new function makes the virtualizer compute the positions of all rows again.
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey,
    estimateSize: (index) => ESTIMATES[rows[index]?.kind ?? 'item'],
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: NEAR,
    overscan: 8,
    paddingStart: 16,
    paddingEnd: 24,
  });

  useLayoutEffect(() => {
    if (begun.current || rows.length === 0) return;
    begun.current = true;
    list.scrollToEnd();
  }, [rows.length, list]);

  // Who sends a message wants to see it and its answer.
  const last = rows.at(-1);
  const sent = last?.kind === 'sending' ? last.key : null;
  useLayoutEffect(() => {
    if (sent !== null) list.scrollToEnd();
  }, [sent, list]);

  const pending = needsApproval ? rows.findLastIndex(isPending) : -1;
  const showPending = () => list.scrollToIndex(pending, { align: 'end' });
  useDistantCard(pending >= 0, showPending);

  const found = target > 0 ? rowWith(rows, target) : -1;
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (found < 0 || shown === target) return;
    setShown(target);
    list.scrollToIndex(found, { align: 'start' });
  }, [found, target, shown, list]);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let below = 0;
    let settledAt = 0;
    const onScroll = () => {
      below = element.scrollHeight - element.scrollTop - element.clientHeight;
      setAway(below > 4 * NEAR);
    };
    // What appears below the transcript makes it smaller, and in another width rows have other heights, which are measured
    // one after the other: the end stays in view.
    const resized = new ResizeObserver((changes) => {
      const now = performance.now();
      if (below <= NEAR && changes.some(({ target }) => target === element)) settledAt = now + SETTLING_MS;
      if (now < settledAt) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener('scroll', onScroll, { passive: true });
    resized.observe(element);
    if (element.firstElementChild) resized.observe(element.firstElementChild);
    return () => {
      element.removeEventListener('scroll', onScroll);
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
                  >
                    <RowView session={session} row={row} />
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
          <IconButton
            className="to-end"
            icon="down"
            label="Jump to latest"
            onClick={() => list.scrollToEnd({ behavior: 'smooth' })}
          />
        ))}
    </div>
  );
}
