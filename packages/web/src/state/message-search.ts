/** Full-text search over messages, on the server. Without a query there are none. */
import { type FoundMessage, ParlanceError } from '@parlance/sdk';
import { parlance } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';

type Found = {
  readonly messages: readonly FoundMessage[];
  readonly next: string | null;
  readonly complete: boolean;
  readonly loading: boolean;
  readonly fault: ParlanceError | null;
};

const NOTHING: Found = { messages: [], next: null, complete: true, loading: true, fault: null };
/** Debounce of the search field. */
const REST_MS = 200;

export function useMessageSearch(query: string) {
  const [found, setFound] = useState(NOTHING);

  async function read(cursor: string | null, signal?: AbortSignal): Promise<void> {
    try {
      const page = await parlance.sessions.search(query, { cursor: cursor ?? undefined, signal });
      setFound(({ messages }) => ({
        ...page,
        messages: cursor === null ? page.messages : [...messages, ...page.messages],
        loading: false,
        fault: null,
      }));
    } catch (thrown) {
      if (signal?.aborted) return;
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setFound((before) => ({ ...before, loading: false, fault: thrown }));
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is of the same query
  useEffect(() => {
    if (query === '') return setFound(NOTHING);
    const stop = new AbortController();
    setFound((before) => ({ ...before, loading: true }));
    const timer = setTimeout(() => void read(null, stop.signal), REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query]);

  return { ...found, hasMore: found.next !== null, more: () => void read(found.next) };
}
