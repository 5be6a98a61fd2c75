/** The served dialects with examples: read once, when a page needs them. */
import { type Dialect, type DialectList, ParlanceError } from '@parlance/sdk';
import { toast } from '@parlance/ui/components/controls.tsx';
import { onActivity } from '@parlance/ui/state/activity.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useEffect } from 'react';

const dialects = store<DialectList | null>(null);
let reading = false;

/** Null until the server has answered. */
export function useDialects(): DialectList | null {
  useEffect(() => {
    void read();
    return onActivity(({ type }) => type === 'ready' && void read());
  }, []);
  return useStore(dialects);
}

async function read(): Promise<void> {
  if (reading || dialects.get() !== null) return;
  reading = true;
  try {
    dialects.set(await parlance.dialects());
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    // Read again when the connection is back.
    if (thrown.code !== 'unreachable') toast(thrown.message);
  } finally {
    reading = false;
  }
}

export const dialectNamed = (list: DialectList | null, name: string): Dialect | undefined =>
  list?.dialects.find((dialect) => dialect.name === name);
