/**
 * The sessions that match a filter, read page by page and updated by activity. Requests are made one at a time, so that
 * an older response never replaces a newer one.
 */
import type { SessionId } from '@parlance/protocol';
import { type ActivityEvent, type Parlance, ParlanceError, type Session } from '@parlance/sdk';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { onActivity } from './activity.ts';
import { parlance } from './server.ts';
import { byChange, keyOf, type ListedSession, reduceSession, SessionOrder } from './session-order.ts';

export type Filter = {
  /** substring of the title; empty: all */
  readonly query: string;
  readonly archived: boolean;
  /** absent: pinned sessions and others */
  readonly pinned?: 'only' | 'without';
  /** only sessions with this tag; empty: all */
  readonly tag?: string;
};

export type SessionList = {
  /** the filter of these sessions */
  readonly filter: Filter;
  readonly sessions: readonly ListedSession[];
  /** there is a next page: `more` reads it */
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly fault: ParlanceError | null;
};

/** What fills a screen; further pages are larger, because scrolling asks for many. */
const FIRST_PAGE = 60;
const NEXT_PAGE = 200;
/** After a gap in the activity the list is read again in parts of this size. Until its turn comes, a part stays as it was. */
const PART = 1_000;

export const NOTHING: SessionList = {
  filter: { query: '', archived: false },
  sessions: [],
  hasMore: false,
  loading: true,
  fault: null,
};

type Change = Partial<Omit<SessionList, 'sessions' | 'filter'>>;
/** A place in the list: its cursor, and the session before it. */
type Position = { readonly cursor: string; readonly last: Session };
type Happened = Exclude<ActivityEvent, { type: 'ready' | 'missed' | 'settings.changed' | 'mcp.changed' }>;
/** `isListed`: its session was in the list */
type Noticed = { readonly event: Happened; readonly isListed: boolean };

/** Changes that may bring a session into a list. */
const BRINGS: ReadonlySet<string> = new Set([
  'session.created',
  'session.renamed',
  'session.archived',
  'session.unarchived',
  'session.pinned',
  'session.tagged',
  'input.accepted',
] satisfies ActivityEvent['type'][]);

export class SessionPages {
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  /** events since the request that is open, whose response may be older; null if none is open */
  #meanwhile: Noticed[] | null = null;
  readonly #order = new SessionOrder();
  #queue = Promise.resolve();
  #cursor: string | undefined;
  /** the last session before the cursor */
  #end: Session | undefined;
  /** a later gap begins another round */
  #round = 0;
  #isReadingMore = false;
  #now: SessionList;

  constructor(
    private readonly client: Pick<Parlance, 'sessions' | 'session'>,
    private readonly filter: Filter,
  ) {
    this.#now = { ...NOTHING, filter };
  }

  readonly get = (): SessionList => this.#now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  stop(): void {
    this.#stop.abort();
  }

  /** Reads as many as there were, at least a page. */
  read(): void {
    const round = ++this.#round;
    this.#request(() => this.#read(round, Math.min(Math.max(this.#now.sessions.length, FIRST_PAGE), PART)));
  }

  /** Reads the next page, unless it is being read. */
  readonly more = (): void => {
    if (this.#isReadingMore || this.#cursor === undefined) return;
    this.#isReadingMore = true;
    this.#request(() => this.#readMore().finally(() => (this.#isReadingMore = false)));
  };

  happened(event: ActivityEvent): void {
    if (event.type === 'settings.changed' || event.type === 'mcp.changed') return;
    if (event.type === 'ready' || event.type === 'missed' || event.session === null) {
      this.read();
      return;
    }
    const { session, owner } = event;
    const isListed = this.#order.get(keyOf({ id: session, owner })) !== undefined;
    this.#meanwhile?.push({ event, isListed });
    if (this.#apply(event)) this.#set({});
    if (!isListed && BRINGS.has(event.type)) this.#request(() => this.#fetchOne(session));
  }

  /** Returns whether the list has changed. */
  #apply(event: Happened): boolean {
    const found = event.session !== null && this.#order.get(keyOf({ id: event.session, owner: event.owner }));
    if (!found) return false;
    const next = after(found, event);
    if (next === found) return false;
    if (next && this.#fits(next)) this.#order.put(next);
    else this.#order.delete(found.key);
    return true;
  }

  /** Reads a part of the list after `from`, or its beginning, and then the next part, up to where the list ended before. */
  async #read(round: number, wanted: number, from?: Position): Promise<Change> {
    if (round !== this.#round) return {};
    const sessions: Session[] = [];
    let cursor = from?.cursor;
    do {
      const got = await this.#page(cursor, wanted > FIRST_PAGE ? NEXT_PAGE : FIRST_PAGE);
      sessions.push(...got.sessions);
      cursor = got.next ?? undefined;
    } while (cursor !== undefined && sessions.length < wanted && !(from && this.#isEndIn(sessions)));
    const last = sessions.at(-1);
    if (cursor !== undefined && last && !this.#isEndIn(sessions)) {
      const next = { cursor, last };
      this.#order.replace(this.#fitting(sessions), { after: from?.last, until: last });
      this.#request(() => this.#read(round, PART, next));
      return { loading: false, fault: null };
    }
    this.#order.replace(this.#fitting(sessions), { after: from?.last });
    this.#cursor = cursor;
    this.#end = last ?? from?.last;
    return { hasMore: cursor !== undefined, loading: false, fault: null };
  }

  /** Whether the sessions reach to where the list ended before. */
  #isEndIn(sessions: readonly Session[]): boolean {
    const end = this.#end;
    const last = sessions.at(-1);
    if (!end || !last) return true;
    return byChange(last, end) > 0 || sessions.some((session) => keyOf(session) === keyOf(end));
  }

  async #readMore(): Promise<Change> {
    if (this.#cursor === undefined) return {};
    const got = await this.#page(this.#cursor, NEXT_PAGE);
    this.#cursor = got.next ?? undefined;
    this.#end = got.sessions.at(-1) ?? this.#end;
    this.#order.addOlder(this.#fitting(got.sessions));
    return { hasMore: this.#cursor !== undefined, fault: null };
  }

  /** Sessions that moved to the top while pages were read, and are in none of them. */
  #lost(meanwhile: readonly Noticed[]): ReadonlySet<SessionId> {
    const lost = new Set<SessionId>();
    for (const { event, isListed } of meanwhile) {
      const { type, session, owner } = event;
      const isGone = session === null || type === 'session.erased';
      if (isListed && !isGone && !this.#order.get(keyOf({ id: session, owner }))) lost.add(session);
    }
    return lost;
  }

  /** A session that is not in the list. Only the list of all sessions reports errors. */
  async #fetchOne(id: string): Promise<Change> {
    const { signal } = this.#stop;
    const got = await this.client
      .session(id)
      .get({ signal })
      .catch(() => null);
    if (got && this.#fits(got)) this.#order.put(got);
    return {};
  }

  #page(cursor: string | undefined, limit: number) {
    const { archived, pinned, tag = '' } = this.filter;
    return this.client.sessions.list({
      limit,
      cursor,
      q: this.#query || undefined,
      archived: archived ? 'only' : undefined,
      pinned: pinned === 'only' ? 'only' : undefined,
      tag: tag === '' ? undefined : tag,
      signal: this.#stop.signal,
    });
  }

  get #query(): string {
    return this.filter.query.trim();
  }

  #fits(session: Session): boolean {
    const { archived, pinned, tag = '' } = this.filter;
    return (
      !session.ephemeral &&
      session.parent === undefined &&
      session.archived === archived &&
      (pinned === undefined || (session.pinned === true) === (pinned === 'only')) &&
      (tag === '' || session.tags?.includes(tag) === true) &&
      session.title.toLowerCase().includes(this.#query.toLowerCase())
    );
  }

  /** Which sessions match is up to the server, except for what it cannot leave out. */
  #fitting(page: readonly Session[]): readonly Session[] {
    return this.filter.pinned === 'without' ? page.filter(({ pinned }) => !pinned) : page;
  }

  /** Requests are made one after another. `work` returns what its response changes. */
  #request(work: () => Promise<Change>): void {
    const done = this.#queue.then(async () => {
      this.#meanwhile = [];
      const change = await work().catch(faultOf);
      for (const { event } of this.#meanwhile) this.#apply(event);
      for (const id of this.#lost(this.#meanwhile)) this.#request(() => this.#fetchOne(id));
      this.#meanwhile = null;
      if (!this.#stop.signal.aborted) this.#set(change);
    });
    this.#queue = done.catch(() => undefined);
  }

  #set(change: Change): void {
    this.#now = { ...this.#now, ...change, sessions: this.#order.all };
    for (const listener of [...this.#listeners]) listener();
  }
}

function faultOf(thrown: unknown): Change {
  if (!(thrown instanceof ParlanceError)) throw thrown;
  return { loading: false, fault: thrown };
}

/** Null if the session is gone, the same object if nothing changed. */
function after(session: ListedSession, event: Happened): Session | null {
  if (event.type === 'session.erased') return null;
  if (event.type === 'session.attached') return { ...session, attached: event.attached };
  return reduceSession(session, event);
}

// The session list: searched on the server, updated by activity.

/** Debounce of the search field. */
const REST_MS = 150;
const silent = () => () => undefined;

/** While a search is typed, the list of the search before stays. */
export function useSessions({ query, archived, pinned, tag = '' }: Filter): SessionList & { more(): void } {
  const [pages, setPages] = useState<SessionPages | null>(null);

  useEffect(() => {
    const opened = new SessionPages(parlance, { query, archived, pinned, tag });
    const shown = opened.subscribe(() => {
      shown();
      setPages(opened);
    });
    const timer = setTimeout(() => opened.read(), query.trim() === '' ? 0 : REST_MS);
    const unfollow = onActivity((event) => opened.happened(event));
    return () => {
      clearTimeout(timer);
      shown();
      unfollow();
      opened.stop();
    };
  }, [query, archived, pinned, tag]);

  const list = useSyncExternalStore(pages?.subscribe ?? silent, pages?.get ?? (() => NOTHING));
  const more = useCallback(() => pages?.more(), [pages]);
  return { ...list, more };
}
