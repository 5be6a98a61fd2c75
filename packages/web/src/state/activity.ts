/** What happens in all our sessions: one stream for the whole page. Lists and badges follow from it. */
import type { ActivityEvent, ConnectionState } from '@parlance/sdk';
import { whileSeenOrFirst } from './presence.ts';
import { parlance } from './server.ts';
import { store, useStore } from './store.ts';

const heard = new Set<(event: ActivityEvent) => void>();

/** Whether the page hears of what happens: the truth about the connection, for all to see. */
export const connection = store<ConnectionState>({ status: 'connecting', failures: 0 });
export const useConnection = (): ConnectionState => useStore(connection);

/** Called with what happens from now on; `ready` and `missed` say that something may have been missed. */
export function onActivity(listener: (event: ActivityEvent) => void): () => void {
  heard.add(listener);
  return () => heard.delete(listener);
}

/** Listens while the page is seen, or is the one that listens unseen, until it is stopped or until the server says no (that leads to the login). */
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
