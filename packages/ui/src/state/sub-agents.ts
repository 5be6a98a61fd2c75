/** Sub-agents of a session, in the order of their start. */
import { type ActivityEvent, ParlanceError, type Session } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { onActivity } from './activity.ts';
import { parlance } from './server.ts';
import { reduceSession } from './session-order.ts';

/** The latest ones; a session that starts more is read page by page elsewhere. */
const MOST = 100;
const NONE: readonly Session[] = [];
/** Events that may be newer than a response. */
const REMEMBERED = 200;

/** Updated by activity. Empty while they are read, and if they cannot be: the page says what is wrong with the connection. */
export function useSubAgents(parent: string): readonly Session[] {
  const [children, setChildren] = useState(NONE);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let recent: readonly ActivityEvent[] = [];
    let requests = 0;
    const read = () => {
      const request = ++requests;
      parlance.sessions.list({ parent, limit: MOST, signal }).then(
        ({ sessions }) => {
          if (request === requests) setChildren(recent.reduce(afterActivity, sessions.toSorted(byStart)));
        },
        (thrown) => {
          if (!signal.aborted && !(thrown instanceof ParlanceError)) throw thrown;
        },
      );
    };
    read();
    const unfollow = onActivity((event) => {
      recent = [...recent, event].slice(-REMEMBERED);
      if (mayAdd(event, parent)) read();
      else setChildren((before) => afterActivity(before, event));
    });
    return () => {
      unfollow();
      stop.abort();
    };
  }, [parent]);
  return children;
}

const byStart = (a: Session, b: Session): number =>
  a.createdAt.localeCompare(b.createdAt) || a.title.localeCompare(b.title);

const mayAdd = (event: ActivityEvent, parent: string): boolean =>
  event.type === 'ready' ||
  event.type === 'missed' ||
  (event.type === 'session.created' && event.parent?.session === parent);

export function afterActivity(before: readonly Session[], event: ActivityEvent): readonly Session[] {
  if (!('session' in event) || event.session === null || event.type === 'session.attached') return before;
  const index = before.findIndex(({ id }) => id === event.session);
  const found = before[index];
  if (!found) return before;
  if (event.type === 'session.erased') return before.toSpliced(index, 1);
  const next = reduceSession(found, event);
  return next === found ? before : before.with(index, next);
}
