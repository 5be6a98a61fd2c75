import type { Session } from '@parlance/protocol/api';
import { useEffect, useState } from 'react';
import type { ActivityEvent } from '../activity.ts';
import type { Page, Parlance } from '../connect.ts';
import { ParlanceError } from '../error.ts';
import { useParlance } from './context.ts';
import { perKey, shared } from './shared.ts';

export type SessionsQuery = Omit<Page, 'cursor' | 'signal'>;

export type UseSessionsResult = {
  /** most recently changed first */
  readonly sessions: readonly Session[];
  readonly isLoading: boolean;
  readonly error: ParlanceError | null;
  /** there is a next page: `more` reads it */
  readonly hasMore: boolean;
  more(): void;
};

/** Minimum time between two reads of the list. */
const REST_MS = 200;

type StreamEvent = ActivityEvent | { readonly type: 'refused'; readonly error: ParlanceError };

/** One stream for all lists of a client. */
const activityOf = perKey((client: Parlance) =>
  shared<StreamEvent>((emit) => {
    const stop = new AbortController();
    void follow(client, emit, stop.signal);
    return () => stop.abort();
  }),
);

async function follow(
  client: Parlance,
  emit: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const event of client.activity({ signal })) emit(event);
  } catch (error) {
    if (!(error instanceof ParlanceError)) throw error;
    if (!signal.aborted) emit({ type: 'refused', error });
  }
}

async function readPages(
  client: Parlance,
  query: SessionsQuery,
  options: { pages: number; signal: AbortSignal },
) {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < options.pages; page++) {
    const got = await client.sessions.list({ ...query, cursor, signal: options.signal });
    sessions.push(...got.sessions);
    cursor = got.next ?? undefined;
    if (cursor === undefined) break;
  }
  return { sessions, hasMore: cursor !== undefined };
}

const NOTHING = { sessions: [], isLoading: true, error: null, hasMore: false } as const;

/**
 * The sessions of the user, kept up to date.
 * @example
 * const { sessions, hasMore, more } = useSessions({ limit: 30, q: search });
 */
export function useSessions(query: SessionsQuery = {}): UseSessionsResult {
  const client = useParlance();
  const [list, setList] = useState<Omit<UseSessionsResult, 'more'>>(NOTHING);
  const [pages, setPages] = useState(1);
  const asked = JSON.stringify(query);

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    let isOutdated = true;

    async function read(): Promise<void> {
      timer = undefined;
      isReading = true;
      isOutdated = false;
      try {
        const got = await readPages(client, JSON.parse(asked), { pages, signal });
        setList({ ...got, isLoading: false, error: null });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ParlanceError)) throw error;
        setList((before) => ({ ...before, isLoading: false, error }));
      } finally {
        isReading = false;
        if (isOutdated && !signal.aborted) timer = setTimeout(read, REST_MS);
      }
    }

    const leave = activityOf(client)((event) => {
      if (event.type === 'refused') {
        setList((before) => ({ ...before, isLoading: false, error: event.error }));
        return;
      }
      if (event.type === 'settings.changed') return;
      isOutdated = true;
      if (!isReading) timer ??= setTimeout(read, REST_MS);
    });
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
      leave();
    };
  }, [client, asked, pages]);

  return { ...list, more: () => setPages((count) => count + 1) };
}
