/** The session list: pinned sessions, then by day; searched by title and by message. */
import { type FoundMessage, ParlanceError, type Session, type TagCount } from '@parlance/sdk';
import { Button, Icon, IconButton } from '@parlance/ui/components/controls.tsx';
import { Menu } from '@parlance/ui/components/menu.tsx';
import { onActivity, useShownFault } from '@parlance/ui/state/activity.ts';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { dayRanges, type ListedSession, stateText } from '@parlance/ui/state/session-order.ts';
import { type SessionList as Listed, useSessions } from '@parlance/ui/state/sessions.ts';
import { useSubAgents } from '@parlance/ui/state/sub-agents.ts';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'react';
import { useNeed } from '../state/approvals.ts';
import { useMessageSearch } from '../state/message-search.ts';
import { type OpenDialog, SessionDialog, type SessionMenu, sessionMenu } from './session-menu.tsx';

const ALL_TAGS = '';
const NONE: Listed['sessions'] = [];

export function Sessions({ chosen }: { chosen: string | null }) {
  const [query, setQuery] = useState('');
  const [archived, setArchived] = useState(false);
  const [wanted, setTag] = useState(ALL_TAGS);
  const tags = useTags();
  // The tag may be gone since it was chosen.
  const tag = tags.some((one) => one.tag === wanted) ? wanted : ALL_TAGS;
  const searched = query.trim();
  const plain = searched === '' && !archived && tag === ALL_TAGS;
  const list = useSessions({ query, archived, tag, pinned: plain ? 'without' : undefined });
  const pinned = useAllPinned();
  const shownPinned = list.filter.pinned === 'without' ? pinned : NONE;
  return (
    <section className="sessions" aria-label="Sessions">
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder={archived ? 'Search the archive' : 'Search sessions'}
          aria-label="Search titles and messages"
          value={query}
          maxLength={200}
          onChange={(event) => setQuery(event.target.value)}
        />
        <IconButton
          icon="archive"
          label={archived ? 'Show current sessions' : 'Show archived sessions'}
          aria-pressed={archived}
          onClick={() => setArchived(!archived)}
        />
      </div>
      {tags.length > 0 && (
        <select
          className="tag-filter"
          aria-label="Filter by tag"
          value={tag}
          onChange={(event) => setTag(event.target.value)}
        >
          <option value={ALL_TAGS}>All tags</option>
          {tags.map(({ tag, sessions }) => (
            <option key={tag} value={tag}>
              {tag} ({sessions})
            </option>
          ))}
        </select>
      )}
      {list.sessions.length + shownPinned.length === 0 && (
        <Hint list={list} searched={searched} archived={archived} />
      )}
      <SessionList
        sessions={list.sessions}
        pinned={shownPinned}
        chosen={chosen}
        more={list.hasMore && searched === '' ? list.more : null}
      >
        {searched !== '' && (
          <>
            {list.hasMore && (
              <Button variant="quiet" onClick={list.more}>
                Show more
              </Button>
            )}
            <FoundMessages query={searched} isAlone={list.sessions.length === 0 && !list.loading} />
          </>
        )}
      </SessionList>
    </section>
  );
}

function useAllPinned(): Listed['sessions'] {
  const { sessions, hasMore, more } = useSessions({ query: '', archived: false, pinned: 'only' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page may have a next one
  useEffect(() => {
    if (hasMore) more();
  }, [sessions, hasMore, more]);
  return sessions;
}

type HintProps = { readonly list: Listed; readonly searched: string; readonly archived: boolean };

/** Why the list is empty. */
function Hint({ list: { loading, fault: last }, searched, archived }: HintProps) {
  const fault = useShownFault(last);
  if (loading && !last) return null;
  if (last && !fault) return null;
  if (fault) return <p className="hint">{fault.message}</p>;
  // The search of messages says whether there are any results.
  if (searched !== '') return null;
  return (
    <p className="hint">
      {archived ? 'No archived sessions.' : 'No sessions yet. Sessions of all clients appear here.'}
    </p>
  );
}

// Messages that match the search, each a link to its place in the session.

const FROM = { user: 'You', agent: 'Answer', history: 'Imported' } as const;

type FoundMessagesProps = {
  readonly query: string;
  /** no titles match */
  readonly isAlone: boolean;
};

function FoundMessages({ query, isAlone }: FoundMessagesProps) {
  const { messages, complete, hasMore, loading, fault: last, more } = useMessageSearch(query);
  const fault = useShownFault(last);
  return (
    <section aria-label="Messages" aria-busy={loading}>
      {messages.length > 0 && <h2 className="session-day">Messages</h2>}
      {fault && <p className="hint">{fault.message}</p>}
      {isAlone && !loading && !last && messages.length === 0 && (
        <p className="hint">No results for “{query}”.</p>
      )}
      <ul>
        {messages.map((message) => (
          <Found key={`${message.session} ${message.seq}`} message={message} />
        ))}
      </ul>
      {hasMore && (
        <Button variant="quiet" onClick={more}>
          Show more messages
        </Button>
      )}
      {!complete && <p className="hint">Older messages are still being indexed.</p>}
    </section>
  );
}

function Found({ message: { session, title, archived, seq, at, from, excerpt } }: { message: FoundMessage }) {
  return (
    <li>
      <a className="found" href={hrefOf({ page: 'session', id: session }, { event: String(seq) })}>
        <span className="session-title">{title || 'Untitled'}</span>
        <span className="found-text">
          {excerpt.map(({ text, match }, index) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: an excerpt never changes
            match ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
          )}
        </span>
        <span className="session-more">
          {FROM[from]} · {new Date(at).toLocaleDateString()}
          {archived && ' · archived'}
        </span>
      </a>
    </li>
  );
}

// A list of sessions of any length: only the rows in view are in the document.

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

function SessionList({ sessions, pinned, chosen, more, children }: SessionListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const { id: mine, permissions } = useServer().principal;
  const mayChange = permissions.includes('chat:send');
  const today = new Date().toDateString();
  const lineage = useLineage(chosen, sessions);
  const [root] = lineage;
  /** the height of a row has changed */
  const [, remeasure] = useReducer((count: number) => count + 1, 0);
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
                      <>
                        <SessionRow
                          session={row.session}
                          chosen={row.session.id === chosen}
                          foreign={row.session.owner !== mine}
                          mayChange={mayChange}
                          onOpen={setOpen}
                        />
                        {row.session.id === root && row.session.owner === mine && (
                          <SubAgentRows parent={root} lineage={lineage} onChange={remeasure} />
                        )}
                      </>
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

// Sub-agents below the session that is open, or whose sub-agent is.

const NOBODY: readonly string[] = [];

/** From the session that lists show down to `chosen`, which is the same or works for it. Empty until that is known. */
function useLineage(chosen: string | null, listed: readonly ListedSession[]): readonly string[] {
  const isListed = useMemo(() => listed.some(({ id }) => id === chosen), [listed, chosen]);
  const [lineage, setLineage] = useState(NOBODY);
  const lastListed = useRef<string | null>(null);
  useEffect(() => {
    if (isListed) lastListed.current = chosen;
    setLineage(isListed && chosen !== null ? [chosen] : NOBODY);
    // One that was listed works for no other; it may have just been deleted.
    if (chosen === null || chosen === lastListed.current) return;
    const stop = new AbortController();
    const { signal } = stop;
    const find = async (id: string, below: readonly string[]): Promise<readonly string[]> => {
      const { parent } = await parlance.session(id).get({ signal });
      return parent === undefined ? [id, ...below] : find(parent, [id, ...below]);
    };
    find(chosen, []).then(setLineage, (thrown) => {
      // The page of the session says why it cannot be read.
      if (!signal.aborted && !(thrown instanceof ParlanceError)) throw thrown;
    });
    return () => stop.abort();
  }, [chosen, isListed]);
  return lineage;
}

type SubAgentRowsProps = {
  readonly parent: string;
  /** down to the session that is open */
  readonly lineage: readonly string[];
  readonly onChange: () => void;
};

/** Of those that are done, only the ones that are open show their own. */
function SubAgentRows({ parent, lineage, onChange }: SubAgentRowsProps) {
  const children = useSubAgents(parent);
  const chosen = lineage.at(-1);
  useLayoutEffect(() => {
    if (children.length > 0) onChange();
    return onChange;
  }, [children.length, onChange]);
  if (children.length === 0) return null;
  return (
    <ul className="sub-agents" aria-label="Sub-agents">
      {children.map(({ id, title, status, waitsFor }) => (
        <li key={id}>
          <div className="session-row" data-chosen={id === chosen || undefined}>
            <a href={hrefOf({ page: 'session', id })} aria-current={id === chosen ? 'page' : undefined}>
              <span className={`dot dot-${status}`} title={stateText({ status, waitsFor })} />
              <span className="session-title" title={title}>
                {title}
              </span>
              {status !== 'idle' && <span className="session-more">{stateText({ status, waitsFor })}</span>}
            </a>
          </div>
          {(status === 'running' || status === 'waiting' || lineage.includes(id)) && (
            <SubAgentRows parent={id} lineage={lineage} onChange={onChange} />
          )}
        </li>
      ))}
    </ul>
  );
}

// One session in the list: status, tags, attached clients and its menu.

const NEEDS = { approval: 'Needs approval', answer: 'Has a question' } as const;

type RowProps = SessionMenu & { readonly session: Session; readonly chosen: boolean };

const SessionRow = memo(function SessionRow(props: RowProps) {
  const { session, chosen, foreign } = props;
  const { id, status, attached, pinned, lastModel, tags = [] } = session;
  const need = useNeed(session);
  const state = need === null ? stateText(session) : NEEDS[need];
  const title = session.title || 'Untitled';
  // Everybody’s console, terminal and extension speak the native one.
  const dialects = Object.keys(attached)
    .filter((dialect) => dialect !== 'native')
    .sort();

  return (
    <div className="session-row" data-chosen={chosen || undefined} data-pinned={pinned || undefined}>
      <a href={hrefOf({ page: 'session', id })} aria-current={chosen ? 'page' : undefined}>
        <span className={`dot dot-${status}`} title={state} />
        <span className="session-title" title={lastModel ? `${title}\nLast answered by ${lastModel}` : title}>
          {title}
        </span>
        {(foreign || status !== 'idle' || tags.length > 0 || dialects.length > 0) && (
          <span className="session-more">
            {foreign && <span>of {session.owner}</span>}
            {status !== 'idle' && <span>{state}</span>}
            {tags.map((tag) => (
              <span className="tag" key={tag}>
                {tag}
              </span>
            ))}
            {dialects.map((dialect) => (
              <span
                className="attached"
                key={dialect}
                title={`Connected clients that use ${dialect}: ${attached[dialect]}`}
              >
                {dialect}
              </span>
            ))}
          </span>
        )}
        {pinned && (
          <span className="pinned" title="Pinned">
            <Icon name="pin" />
          </span>
        )}
      </a>
      <Menu label={`Actions for ${title}`} items={() => sessionMenu(props)} />
    </div>
  );
});

// The tags of the user's sessions, read again when a session is tagged, archived or deleted.

const CHANGING: ReadonlySet<string> = new Set([
  'ready',
  'missed',
  'session.tagged',
  'session.archived',
  'session.unarchived',
  'session.erased',
]);

function useTags(): readonly TagCount[] {
  const [tags, setTags] = useState<readonly TagCount[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const read = () =>
      parlance.sessions.tags({ signal: stop.signal }).then(setTags, (thrown) => {
        // Tags are not essential: the list says what is wrong with the connection.
        if (!stop.signal.aborted && !(thrown instanceof ParlanceError)) throw thrown;
      });
    void read();
    const unfollow = onActivity(({ type }) => {
      if (CHANGING.has(type)) void read();
    });
    return () => {
      unfollow();
      stop.abort();
    };
  }, []);
  return tags;
}

// Sessions as rows of one list: the pinned ones, then a heading for each day and its sessions. Pure.

/** `group` is the heading that a row is below. */
export type ListRow<One> =
  | { readonly kind: 'heading'; readonly group: string }
  | { readonly kind: 'session'; readonly group: string; readonly session: One };

export type ListRows<One> = { readonly count: number; at(index: number): ListRow<One> | undefined };

type SortedSessions<One> = { readonly sorted: readonly One[]; readonly pinned: readonly One[] };

/**
 * Rows are made when they are read, so that a list of any length is ready at once. `sorted` has the last change first
 * and none of the pinned sessions.
 */
export function sessionRows<One extends Pick<Session, 'updatedAt'>>(
  { sorted, pinned }: SortedSessions<One>,
  now: Date,
): ListRows<One> {
  const groups = [
    ...(pinned.length > 0 ? [{ name: 'Pinned', of: pinned, start: 0, end: pinned.length }] : []),
    ...dayRanges(sorted, now).map((range) => ({ ...range, of: sorted })),
  ];
  return {
    count: groups.reduce((sum, { start, end }) => sum + 1 + end - start, 0),
    at(index) {
      let rest = index;
      for (const { name: group, of, start, end } of groups) {
        if (rest === 0) return { kind: 'heading', group };
        const session = rest <= end - start ? of[start + rest - 1] : undefined;
        if (session) return { kind: 'session', group, session };
        rest -= 1 + end - start;
      }
      return undefined;
    },
  };
}

/** Rows that are compared after a change, and how far they may have moved. */
const COMPARED = 20;
const FARTHEST = 50;

/**
 * By how many rows those from `index` on have moved, because others came or went above them. Two neighbours that moved
 * together are needed: one alone may be a session that has changed itself.
 */
export function shiftOf<One extends { readonly key: string }>(
  before: ListRows<One>,
  after: ListRows<One>,
  index: number,
): number {
  const isSame = (place: number, shift: number) => keyOf(before.at(place)) === keyOf(after.at(place + shift));
  for (let place = index; place < index + COMPARED; place++)
    for (let distance = 0; distance <= FARTHEST; distance++)
      for (const shift of [distance, -distance])
        if (isSame(place, shift) && isSame(place + 1, shift)) return shift;
  return 0;
}

const keyOf = (row: ListRow<{ readonly key: string }> | undefined): string | undefined =>
  row?.kind === 'session' ? row.session.key : row?.group;

/** Rows in view that are below one heading. Without a heading, the group begins above. */
export type Section<Item> = {
  readonly group: string;
  readonly heading: Item | null;
  readonly items: readonly Item[];
};

export function sectionsOf<Item extends { readonly row: ListRow<unknown> }>(
  inView: readonly Item[],
): Section<Item>[] {
  const sections: { group: string; heading: Item | null; items: Item[] }[] = [];
  for (const item of inView) {
    const { group, kind } = item.row;
    const last = sections.at(-1);
    if (kind === 'heading') sections.push({ group, heading: item, items: [] });
    else if (last?.group === group) last.items.push(item);
    else sections.push({ group, heading: null, items: [item] });
  }
  return sections;
}
