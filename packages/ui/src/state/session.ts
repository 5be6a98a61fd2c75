/**
 * Live view of one session. Views are cached: returning to a session shows it at once and continues from its cursor.
 */
import { type ConnectionState, EMPTY, type LiveView, type SessionView } from '@parlance/sdk';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { onActivity } from './activity.ts';
import { whileVisible } from './presence.ts';
import { parlance, useServer } from './server.ts';

/** Number of cached views. */
const MAX_REMEMBERED = 8;
/** Keyed by principal and session. */
const remembered = new Map<string, SessionView>();

function remember(name: string, view: SessionView): void {
  remembered.delete(name);
  if (view.seq === 0 || view.erasedBy !== null) return;
  remembered.set(name, view);
  const [oldest] = remembered.keys();
  if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
}

/** Called when another user logs in. */
export const forgetSessions = (): void => remembered.clear();

export type FollowedSession = {
  readonly view: SessionView;
  readonly connection: ConnectionState;
  /** reconnects at once */
  retryNow(): void;
};

const CONNECTING: ConnectionState = { status: 'connecting', failures: 0 };
const silent = () => () => undefined;

/** Use `key={id}` on the component that calls this: it follows one session for its lifetime. */
export function useSession(id: string): FollowedSession {
  const [live, setLive] = useState<LiveView | null>(null);
  const name = `${useServer().principal.id} ${id}`;
  const [start] = useState(() => remembered.get(name) ?? EMPTY);

  useEffect(
    () =>
      whileVisible(() => {
        const opened = parlance.session(id).live(remembered.get(name));
        setLive(opened);
        const unfollow = onActivity(({ type }) => type === 'ready' && opened.retryNow());
        return () => {
          unfollow();
          remember(name, opened.view());
          opened.close();
        };
      }),
    [id, name],
  );

  const view = useSyncExternalStore(live?.subscribe ?? silent, live?.view ?? (() => start));
  const connection = useSyncExternalStore(live?.subscribe ?? silent, live?.connection ?? (() => CONNECTING));
  return { view, connection, retryNow: () => live?.retryNow() };
}
