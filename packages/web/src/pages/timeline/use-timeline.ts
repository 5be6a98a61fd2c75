/** The timeline feed of one session, for the lifetime of the page. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { onActivity } from '../../state/activity.ts';
import { parlance } from '../../state/server.ts';
import { NOTHING_YET, type Timeline, TimelineFeed } from './feed.ts';

const silent = () => () => undefined;
const nothing = () => NOTHING_YET;

/** Use `key={id}` on the component that calls this. The feed is null before the first effect. */
export function useTimeline(id: string): { timeline: Timeline; feed: TimelineFeed | null } {
  const [feed, setFeed] = useState<TimelineFeed | null>(null);
  useEffect(() => {
    const opened = new TimelineFeed(parlance.session(id), onActivity);
    setFeed(opened);
    return () => opened.close();
  }, [id]);
  const timeline = useSyncExternalStore(feed?.subscribe ?? silent, feed?.get ?? nothing);
  return { timeline, feed };
}

/** Whether the screen is wide enough for two columns. */
export function useWide(): boolean {
  const [query] = useState(() => matchMedia('(min-width: 1000px)'));
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    () => query.matches,
  );
}
