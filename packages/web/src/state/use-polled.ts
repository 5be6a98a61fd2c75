/** Fetches data, once or periodically, and again after the connection was lost or the settings of the server have changed. */

import { type CallOptions, ParlanceError } from '@parlance/sdk';
import { onSettingsChange } from '@parlance/ui/state/activity.ts';
import { useCallback, useEffect, useState } from 'react';

export type Polled<Value> = {
  /** the last value; null before the first response */
  readonly value: Value | null;
  /** why the last request failed */
  readonly fault: ParlanceError | null;
  readonly again: () => void;
  /** Shows a value that a response to another request had. */
  readonly set: (value: Value) => void;
};

/** `ask` must be a stable function, or null to fetch nothing. With `everyMs` it is called periodically while the page is visible. */
export function usePolled<Value>(
  ask: ((options: CallOptions) => Promise<Value>) | null,
  everyMs: number | null = null,
): Polled<Value> {
  const [polled, setPolled] = useState<Pick<Polled<Value>, 'value' | 'fault'>>({
    value: null,
    fault: null,
  });
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((number) => number + 1), []);
  const set = useCallback((value: Value) => setPolled({ value, fault: null }), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` triggers another request
  useEffect(() => {
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function poll(): Promise<void> {
      try {
        // A hidden tab fetches only what is not fetched again by itself.
        if (ask && (everyMs === null || !document.hidden))
          setPolled({ value: await ask({ signal: over.signal }), fault: null });
      } catch (thrown) {
        if (over.signal.aborted) return;
        if (!(thrown instanceof ParlanceError)) throw thrown;
        setPolled(({ value }) => ({ value, fault: thrown }));
      }
      if (everyMs !== null && !over.signal.aborted) timer = setTimeout(() => void poll(), everyMs);
    }
    void poll();
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [ask, everyMs, round]);

  useEffect(() => onSettingsChange(again), [again]);

  return { ...polled, again, set };
}
