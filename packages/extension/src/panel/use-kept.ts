/** Values of the extension's storage in components. */
import { useEffect, useState } from 'react';
import type { KeptValue } from '../shared/kept.ts';

/** Null until it was read. */
export function useKept<Value>(kept: KeptValue<Value>): Value | null {
  const [value, setValue] = useState<Value | null>(null);
  useEffect(() => {
    let isNewer = false;
    const stop = kept.watch((next) => {
      isNewer = true;
      setValue(next);
    });
    void kept.get().then((read) => {
      if (!isNewer) setValue(read);
    });
    return stop;
  }, [kept]);
  return value;
}
