/** The session list: searched on the server, updated by activity. */
import { type ActivityEvent, ParlanceError, type Session } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { onActivity } from './activity.ts';
import { byChange, listedAfter } from './listed.ts';
import { parlance } from './server.ts';

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

const PAGE = 60;
/** Debounce of the search field. */
const REST_MS = 150;
const NOTHING: SessionList = { sessions: [], hasMore: false, loading: true, fault: null };

const nameOf = ({ id, owner }: Pick<Session, 'id' | 'owner'>): string => `${owner} ${id}`;

export function useSessions({
  query,
  archived,
  pinned = false,
  tag = '',
}: Filter): SessionList & { more(): void } {
  const [list, setList] = useState(NOTHING);
  const [pages, setPages] = useState(1);

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const q = query.trim() === '' ? undefined : query.trim();
    const fits = (session: Session) =>
      !session.ephemeral &&
      session.archived === archived &&
      (!pinned || session.pinned === true) &&
      (tag === '' || session.tags?.includes(tag) === true) &&
      (!q || session.title.toLowerCase().includes(q.toLowerCase()));

    // One request at a time, so that an older response never replaces a newer one. Events received during a request
    // win over its response if they are newer.
    let heard = 0;
    const attachedAt = new Map<string, number>();
    let queue = Promise.resolve();
    const inTurn = (work: () => Promise<void>): void => {
      const done = queue.then(work);
      queue = done.catch(() => undefined);
    };
    const newer = (known: Session | undefined, got: Session, asked: number): Session => {
      if (!known) return got;
      const attached = (attachedAt.get(nameOf(got)) ?? -1) >= asked ? known.attached : got.attached;
      return { ...(known.head > got.head ? known : got), attached };
    };

    async function read(): Promise<void> {
      const asked = ++heard;
      const sessions: Session[] = [];
      let cursor: string | undefined;
      try {
        for (let page = 0; page < pages; page++) {
          const got = await parlance.sessions.list({
            limit: PAGE,
            cursor,
            q,
            archived: archived ? 'only' : undefined,
            pinned: pinned ? 'only' : undefined,
            tag: tag === '' ? undefined : tag,
            signal,
          });
          sessions.push(...got.sessions);
          cursor = got.next ?? undefined;
          if (cursor === undefined) break;
        }
        setList((before) => {
          const known = new Map(before.sessions.map((session) => [nameOf(session), session]));
          return {
            sessions: sessions.map((got) => newer(known.get(nameOf(got)), got, asked)),
            hasMore: cursor !== undefined,
            loading: false,
            fault: null,
          };
        });
      } catch (thrown) {
        if (signal.aborted) return;
        if (!(thrown instanceof ParlanceError)) throw thrown;
        setList((before) => ({ ...before, loading: false, fault: thrown }));
      }
    }

    /** Fetches a session that is not in the list. */
    async function fetchOne(id: string): Promise<void> {
      const asked = ++heard;
      const got = await parlance
        .session(id)
        .get({ signal })
        .catch(() => null);
      if (!got || signal.aborted || !fits(got)) return;
      setList((before) => {
        const known = before.sessions.find((one) => nameOf(one) === nameOf(got));
        const rest = before.sessions.filter((one) => one !== known);
        return { ...before, sessions: [newer(known, got, asked), ...rest].sort(byChange) };
      });
    }

    function happened(event: ActivityEvent): void {
      if (event.type === 'ready' || event.type === 'missed') {
        inTurn(read);
        return;
      }
      if (event.type === 'session.attached') {
        if (event.session === null) {
          inTurn(read);
          return;
        }
        attachedAt.set(nameOf({ id: event.session, owner: event.owner }), ++heard);
      }
      setList((before) => {
        const index = before.sessions.findIndex(
          ({ id, owner }) => id === event.session && owner === event.owner,
        );
        const found = before.sessions[index];
        if (!found) return before;
        const rest = before.sessions.toSpliced(index, 1);
        if (event.type === 'session.erased') return { ...before, sessions: rest };
        if (event.type === 'session.attached')
          return { ...before, sessions: before.sessions.with(index, { ...found, attached: event.attached }) };
        const next = listedAfter(found, event);
        return { ...before, sessions: fits(next) ? [next, ...rest].sort(byChange) : rest };
      });
      if (
        event.type === 'session.created' ||
        event.type === 'session.archived' ||
        event.type === 'session.unarchived' ||
        event.type === 'session.pinned' ||
        event.type === 'session.tagged' ||
        event.type === 'input.accepted'
      )
        inTurn(() => fetchOne(event.session));
    }

    const timer = setTimeout(() => inTurn(read), q ? REST_MS : 0);
    const unfollow = onActivity(happened);
    return () => {
      clearTimeout(timer);
      unfollow();
      stop.abort();
    };
  }, [query, archived, pinned, tag, pages]);

  return { ...list, more: () => setPages((count) => count + 1) };
}
