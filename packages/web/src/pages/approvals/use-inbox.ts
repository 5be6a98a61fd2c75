/** The live inbox and the titles of its sessions. */
import type { Session } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { onActivity } from '../../state/activity.ts';
import { useApprovals } from '../../state/approvals.ts';
import { parlance } from '../../state/server.ts';
import { type Inbox, withActivity, withList, without } from './inbox.ts';

/** How long an answered card stays visible. */
const SHOWN_MS = 4_000;

export function useInbox(): Inbox {
  const { approvals, loading } = useApprovals();
  const [inbox, setInbox] = useState<Inbox>(() => withList([], approvals));

  useEffect(() => onActivity((event) => setInbox((before) => withActivity(before, event))), []);
  useEffect(() => {
    if (!loading) setInbox((before) => withList(before, approvals));
  }, [approvals, loading]);

  const settled = inbox
    .filter(({ state }) => state.status !== 'pending')
    .map(({ id }) => id)
    .join(' ');
  useEffect(() => {
    if (settled === '') return;
    const timers = settled
      .split(' ')
      .map((id) => setTimeout(() => setInbox((before) => without(before, id)), SHOWN_MS));
    return () => timers.forEach(clearTimeout);
  }, [settled]);
  return inbox;
}

/** Titles of sessions with pending approvals, by owner and id. Fetched when one is unknown. */
export function useTitles(inbox: Inbox): ReadonlyMap<string, string> {
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const unknown = inbox.some((entry) => entry.state.status === 'pending' && !titles.has(nameOf(entry)));

  useEffect(() => {
    if (!unknown) return;
    const stop = new AbortController();
    async function read(): Promise<void> {
      const found = new Map<string, string>();
      for await (const session of parlance.sessions.all({
        status: 'waiting',
        ephemeral: 'included',
        signal: stop.signal,
      }))
        found.set(nameOf({ owner: session.owner, session: session.id }), session.title);
      setTitles((before) => new Map([...before, ...found]));
    }
    // The page falls back to the session id.
    read().catch(() => undefined);
    return () => stop.abort();
  }, [unknown]);
  return titles;
}

export const nameOf = ({ owner, session }: { owner: string; session: Session['id'] }): string =>
  `${owner} ${session}`;
