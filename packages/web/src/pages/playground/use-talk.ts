import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Spoken } from './examples/index.ts';
import { Talk, type Talked } from './talk.ts';

/** One connection for the lifetime of the component. Give it a `key` that changes with the dialect. */
export function useTalk(dialect: Spoken): [Talked, Talk] {
  const [talk] = useState(() => new Talk(dialect));
  useEffect(() => () => talk.close(), [talk]);
  return [useSyncExternalStore(talk.subscribe, talk.get), talk];
}
