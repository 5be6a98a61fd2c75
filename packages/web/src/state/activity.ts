/** One activity stream for the whole page; lists and badges follow from it. */
import type { ActivityEvent, ConnectionState } from '@parlance/sdk';
import { whileSeenOrFirst } from './presence.ts';
import { parlance } from './server.ts';
import { store, useStore } from './store.ts';

const heard = new Set<(event: ActivityEvent) => void>();

/** State of the activity connection, shown in the layout. */
export const connection = store<ConnectionState>({ status: 'connecting', failures: 0 });
export const useConnection = (): ConnectionState => useStore(connection);

/** Called for each event from now on; after `ready` and `missed`, refetch. */
export function onActivity(listener: (event: ActivityEvent) => void): () => void {
  heard.add(listener);
  return () => heard.delete(listener);
}

/** Runs while the tab is visible or is the elected hidden tab, until stopped or refused (which leads to the login). */
export function followActivity(): () => void {
  return whileSeenOrFirst('parlance.activity', () => {
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
