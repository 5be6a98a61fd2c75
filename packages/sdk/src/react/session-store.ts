/** Live views of sessions, shared by all components that show them. */
import type { Parlance } from '../connect.ts';
import type { LiveView } from '../live-view.ts';
import type { ConnectionState } from '../reconnecting-stream.ts';
import type { SessionHandle } from '../session.ts';
import { EMPTY, type SessionView } from '../view.ts';

export type SessionStore = Pick<LiveView, 'view' | 'connection' | 'retryNow'> & {
  readonly session: SessionHandle;
  subscribe: Subscribe<void>;
  /** Reconnects if the session did not exist, for example after its first input. */
  reopen(): void;
};

const CONNECTING: ConnectionState = { status: 'connecting', failures: 0 };

const storesOf = perKey((_client: Parlance) => new Map<string, SessionStore>());

/** One store for all components, as long as one is subscribed. */
export function sessionStore(client: Parlance, id: string): SessionStore {
  const stores = storesOf(client);
  const found = stores.get(id);
  if (found) return found;
  const store = newStore(client.session(id), (isUsed) => {
    if (isUsed) stores.set(id, store);
    else stores.delete(id);
  });
  stores.set(id, store);
  return store;
}

function newStore(session: SessionHandle, onUse: (isUsed: boolean) => void): SessionStore {
  let live: LiveView | null = null;
  let view: SessionView = EMPTY;
  let connection: ConnectionState = CONNECTING;
  let notify = (): void => undefined;

  function open(): void {
    const opened = session.live(view);
    live = opened;
    opened.subscribe(() => {
      if (live !== opened) return;
      view = opened.view();
      connection = opened.connection();
      notify();
    });
  }

  function close(): void {
    live?.close();
    live = null;
    connection = CONNECTING;
  }

  return {
    session,
    subscribe: shared<void>((emit) => {
      onUse(true);
      notify = emit;
      open();
      return () => {
        onUse(false);
        notify = () => undefined;
        close();
      };
    }),
    view: () => view,
    connection: () => connection,
    retryNow: () => live?.retryNow(),
    reopen() {
      if (!live || connection.status !== 'closed') return;
      close();
      open();
    },
  };
}

/**
 * One connection shared by any number of components: opened for the first listener, closed after the last.
 */
export type Subscribe<Event> = (listener: (event: Event) => void) => () => void;

/** `open` starts emitting events and returns a function that ends it. */
export function shared<Event>(open: (emit: (event: Event) => void) => () => void): Subscribe<Event> {
  const listeners = new Set<(event: Event) => void>();
  let close: (() => void) | null = null;
  return (listener) => {
    // The same function may be subscribed twice.
    const own = (event: Event) => listener(event);
    listeners.add(own);
    close ??= open((event) => {
      for (const one of [...listeners]) one(event);
    });
    return () => {
      listeners.delete(own);
      if (listeners.size > 0) return;
      close?.();
      close = null;
    };
  };
}

/** Caches one value per key, as long as the key exists. */
export function perKey<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const found = made.get(key) ?? make(key);
    made.set(key, found);
    return found;
  };
}
