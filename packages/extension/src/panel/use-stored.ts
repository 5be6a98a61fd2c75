/** Values of the extension's storage in components. */
import { useEffect, useState } from 'react';
import type { StoredValue } from '../shared/storage.ts';

/** Null until it was read. */
export function useStored<Value>(stored: StoredValue<Value>): Value | null {
  const [value, setValue] = useState<Value | null>(null);
  useEffect(() => {
    let isNewer = false;
    const stop = stored.watch((next) => {
      isNewer = true;
      setValue(next);
    });
    void stored.get().then((read) => {
      if (!isNewer) setValue(read);
    });
    return stop;
  }, [stored]);
  return value;
}
