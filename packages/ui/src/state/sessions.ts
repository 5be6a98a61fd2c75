/** The session list: searched on the server, updated by activity. */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { onActivity } from './activity.ts';
import { parlance } from './server.ts';
import { type Filter, NOTHING, type SessionList, SessionPages } from './session-pages.ts';

export type { SessionList };

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
