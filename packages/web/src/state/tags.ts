/** The tags of the user's sessions, read again when a session is tagged, archived or deleted. */
import { ParlanceError, type TagCount } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { onActivity } from './activity.ts';
import { parlance } from './server.ts';

const CHANGING: ReadonlySet<string> = new Set([
  'ready',
  'missed',
  'session.tagged',
  'session.archived',
  'session.unarchived',
  'session.erased',
]);

export function useTags(): readonly TagCount[] {
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
