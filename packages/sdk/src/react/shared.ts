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
