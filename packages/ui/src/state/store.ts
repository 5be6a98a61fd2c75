/** An observable value for components. */
import { useSyncExternalStore } from 'react';

export type Store<Value> = {
  get(): Value;
  /** Notifies listeners unless the value is the same. */
  set(value: Value): void;
  subscribe(listener: () => void): () => void;
};

export function store<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useStore = <Value>({ subscribe, get }: Store<Value>): Value =>
  useSyncExternalStore(subscribe, get);
