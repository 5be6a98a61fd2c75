import type { Dialect } from '@parlance/sdk';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { type ConnectionSnapshot, PlaygroundConnection } from './connection.ts';

/** One connection for the lifetime of the component. Give it a `key` that changes with the dialect. */
export function useConnection(dialect: Dialect): [ConnectionSnapshot, PlaygroundConnection] {
  const [connection] = useState(() => new PlaygroundConnection(dialect));
  useEffect(() => () => connection.close(), [connection]);
  return [useSyncExternalStore(connection.subscribe, connection.get), connection];
}
