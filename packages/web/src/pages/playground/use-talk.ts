import type { Dialect } from '@parlance/sdk';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Talk, type Talked } from './talk.ts';

/** One connection for the lifetime of the component. Give it a `key` that changes with the dialect. */
export function useTalk(dialect: Dialect): [Talked, Talk] {
  const [talk] = useState(() => new Talk(dialect));
  useEffect(() => () => talk.close(), [talk]);
  return [useSyncExternalStore(talk.subscribe, talk.get), talk];
}
