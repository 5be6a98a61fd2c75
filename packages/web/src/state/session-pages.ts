/**
 * The sessions that match a filter, read page by page and updated by activity. Requests are made one at a time, so that
 * an older response never replaces a newer one.
 */
import { type ActivityEvent, type Parlance, ParlanceError, type Session } from '@parlance/sdk';
import { byChange, listedAfter } from './listed.ts';

export type Filter = {
  /** substring of the title; empty: all */
  readonly query: string;
  readonly archived: boolean;
  /** only pinned sessions */
  readonly pinned?: boolean;
  /** only sessions with this tag; empty: all */
  readonly tag?: string;
};

export type SessionList = {
  readonly sessions: readonly Session[];
  /** there is a next page: `more` reads it */
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly fault: ParlanceError | null;
};

/** What fills a screen; further pages are larger, because scrolling asks for many. */
const FIRST_PAGE = 60;
const NEXT_PAGE = 200;
/** After a gap in the activity this many are read again; the rest when it is scrolled to. */
const MOST_READ_AGAIN = 1_000;

export const NOTHING: SessionList = { sessions: [], hasMore: false, loading: true, fault: null };

type Happened = Exclude<ActivityEvent, { type: 'ready' | 'missed' }>;

/** Changes that may bring a session into a list. */
const BRINGS: ReadonlySet<string> = new Set([
  'session.created',
  'session.archived',
  'session.unarchived',
  'session.pinned',
  'session.tagged',
  'input.accepted',
] satisfies ActivityEvent['type'][]);

const nameOf = ({ id, owner }: Pick<Session, 'id' | 'owner'>): string => `${owner} ${id}`;

export class SessionPages {
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  /** counts requests and events: those received during a request win over its response if they are newer */
  #heard = 0;
  readonly #attachedAt = new Map<string, number>();
  #queue = Promise.resolve();
  #cursor: string | undefined;
  #isReadingMore = false;
  #now = NOTHING;

  constructor(
    private readonly client: Pick<Parlance, 'sessions' | 'session'>,
    private readonly filter: Filter,
  ) {}

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
    this.#inTurn(() => this.#read());
  }

  /** Reads the next page, unless it is being read. */
  readonly more = (): void => {
    if (this.#isReadingMore || this.#cursor === undefined) return;
    this.#isReadingMore = true;
    this.#inTurn(async () => {
      await this.#readMore();
      this.#isReadingMore = false;
    });
  };

  happened(event: ActivityEvent): void {
    if (event.type === 'ready' || event.type === 'missed' || event.session === null) {
      this.read();
      return;
    }
    const { session } = event;
    if (event.type === 'session.attached')
      this.#attachedAt.set(nameOf({ id: event.session, owner: event.owner }), ++this.#heard);
    this.#apply(event);
    if (BRINGS.has(event.type)) this.#inTurn(() => this.#fetchOne(session));
  }

  #apply(event: Happened): void {
    const { sessions } = this.#now;
    const index = sessions.findIndex(({ id, owner }) => id === event.session && owner === event.owner);
    const found = sessions[index];
    if (!found) return;
    this.#set({ sessions: this.#listAfter(event, index, found) });
  }

  #listAfter(event: Happened, index: number, found: Session): readonly Session[] {
    const { sessions } = this.#now;
    if (event.type === 'session.attached')
      return sessions.with(index, { ...found, attached: event.attached });
    const rest = sessions.toSpliced(index, 1);
    if (event.type === 'session.erased') return rest;
    const next = listedAfter(found, event);
    if (next === found) return sessions;
    return this.#fits(next) ? inserted(rest, next) : rest;
  }

  async #read(): Promise<void> {
    const asked = ++this.#heard;
    const wanted = Math.min(Math.max(this.#now.sessions.length, FIRST_PAGE), MOST_READ_AGAIN);
    const sessions: Session[] = [];
    let cursor: string | undefined;
    const done = await this.#attempt(async () => {
      do {
        const got = await this.#page(cursor, wanted > FIRST_PAGE ? NEXT_PAGE : FIRST_PAGE);
        sessions.push(...got.sessions);
        cursor = got.next ?? undefined;
      } while (cursor !== undefined && sessions.length < wanted);
    });
    if (!done) return;
    const known = new Map(this.#now.sessions.map((session) => [nameOf(session), session]));
    this.#cursor = cursor;
    this.#set({
      sessions: sessions.map((got) => this.#newer(known.get(nameOf(got)), got, asked)),
      hasMore: cursor !== undefined,
      loading: false,
      fault: null,
    });
  }

  async #readMore(): Promise<void> {
    await this.#attempt(async () => {
      if (this.#cursor === undefined) return;
      const got = await this.#page(this.#cursor, NEXT_PAGE);
      this.#cursor = got.next ?? undefined;
      const known = new Set(this.#now.sessions.map(nameOf));
      const added = got.sessions.filter((session) => !known.has(nameOf(session)));
      this.#set({ sessions: [...this.#now.sessions, ...added], hasMore: this.#cursor !== undefined });
    });
  }

  /** A session that is not in the list. */
  async #fetchOne(id: string): Promise<void> {
    const asked = ++this.#heard;
    const { signal } = this.#stop;
    const got = await this.client
      .session(id)
      .get({ signal })
      .catch(() => null);
    if (!got || signal.aborted || !this.#fits(got)) return;
    const known = this.#now.sessions.find((one) => nameOf(one) === nameOf(got));
    const rest = this.#now.sessions.filter((one) => one !== known);
    this.#set({ sessions: inserted(rest, this.#newer(known, got, asked)) });
  }

  #page(cursor: string | undefined, limit: number) {
    const { archived, pinned = false, tag = '' } = this.filter;
    return this.client.sessions.list({
      limit,
      cursor,
      q: this.#query || undefined,
      archived: archived ? 'only' : undefined,
      pinned: pinned ? 'only' : undefined,
      tag: tag === '' ? undefined : tag,
      signal: this.#stop.signal,
    });
  }

  get #query(): string {
    return this.filter.query.trim();
  }

  #fits(session: Session): boolean {
    const { archived, pinned = false, tag = '' } = this.filter;
    return (
      !session.ephemeral &&
      session.archived === archived &&
      (!pinned || session.pinned === true) &&
      (tag === '' || session.tags?.includes(tag) === true) &&
      session.title.toLowerCase().includes(this.#query.toLowerCase())
    );
  }

  #newer(known: Session | undefined, got: Session, asked: number): Session {
    if (!known) return got;
    const attached = (this.#attachedAt.get(nameOf(got)) ?? -1) >= asked ? known.attached : got.attached;
    return { ...(known.head > got.head ? known : got), attached };
  }

  #inTurn(work: () => Promise<void>): void {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
  }

  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (thrown) {
      if (this.#stop.signal.aborted) return false;
      if (!(thrown instanceof ParlanceError)) throw thrown;
      this.#set({ loading: false, fault: thrown });
      return false;
    }
  }

  #set(change: Partial<SessionList>): void {
    this.#now = { ...this.#now, ...change };
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Lists are sorted by the last change: most changes put a session at the front. */
function inserted(sessions: readonly Session[], session: Session): readonly Session[] {
  const index = sessions.findIndex((other) => byChange(session, other) <= 0);
  return sessions.toSpliced(index < 0 ? sessions.length : index, 0, session);
}
