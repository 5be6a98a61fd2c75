/** One activity stream for the whole page; lists and badges follow from it. */
import type { ActivityEvent, ConnectionState, ParlanceError } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { whileVisibleOrElected } from './presence.ts';
import { parlance, refreshServer } from './server.ts';
import { store, useStore } from './store.ts';

const heard = new Set<(event: ActivityEvent) => void>();

/** State of the activity connection, shown in the layout. */
export const connection = store<ConnectionState>({ status: 'connecting', failures: 0 });
export const useConnection = (): ConnectionState => useStore(connection);

/** Whether the connection is lost, which the layout shows. */
export function useDisconnected(): boolean {
  const now = useConnection();
  return now.status === 'waiting' || (now.status === 'connecting' && now.failures > 0);
}

/** Other connections of a page follow within this time. */
const REST_MS = 3_000;

/** Whether the connection is lost or was until now: pages do not repeat what the layout shows. */
export function useDisconnectedLately(): boolean {
  const isDisconnected = useDisconnected();
  const [wasDisconnected, setWas] = useState(false);
  useEffect(() => {
    if (isDisconnected) return setWas(true);
    const timer = setTimeout(() => setWas(false), REST_MS);
    return () => clearTimeout(timer);
  }, [isDisconnected]);
  return isDisconnected || wasDisconnected;
}

/** The error to show in a page. */
export function useShownFault(fault: ParlanceError | null): ParlanceError | null {
  const isDisconnected = useDisconnectedLately();
  return isDisconnected && fault?.code === 'unreachable' ? null : fault;
}

/** Called for each event from now on; after `ready` and `missed`, refetch. */
export function onActivity(listener: (event: ActivityEvent) => void): () => void {
  heard.add(listener);
  return () => heard.delete(listener);
}

/** Runs while the tab is visible or is the elected hidden tab, until stopped or refused (which leads to the login). */
export function followActivity(): () => void {
  return whileVisibleOrElected('parlance.activity', () => {
    const stop = new AbortController();
    void listen(stop.signal);
    return () => stop.abort();
  });
}

async function listen(signal: AbortSignal): Promise<void> {
  try {
    for await (const event of parlance.activity({ signal, onState: connection.set })) {
      for (const listener of [...heard]) listener(event);
    }
  } catch (thrown) {
    if (connection.get().status !== 'closed') throw thrown;
  }
}

// Changes of the server's settings, which admins make in other tabs and browsers.

/** After a gap in the activity, the settings may have changed, too. */
const TELLING: ReadonlySet<ActivityEvent['type']> = new Set<ActivityEvent['type']>([
  'ready',
  'missed',
  'settings.changed',
]);

/** Calls `listener` when the settings may have changed. Returns the unsubscribe function. */
export const onSettingsChange = (listener: () => void): (() => void) =>
  onActivity(({ type }) => {
    if (TELLING.has(type)) listener();
  });

/** Keeps `useServer` up to date until stopped. */
export const followServer = (): (() => void) => onSettingsChange(() => void refreshServer());
