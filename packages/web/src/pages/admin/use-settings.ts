/** The settings that can be changed while the server runs. */
import type { Json } from '@parlance/protocol';
import type { Settings } from '@parlance/sdk';
import { attempt, toast } from '@parlance/ui/components/toast.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { parlance, refreshServer, useServer } from '@parlance/ui/state/server.ts';
import { type Polled, usePolled } from '../../state/use-polled.ts';

type Values = Readonly<Record<string, Json>>;
/** Throws a `ParlanceError`. */
export type Change = (values: Values, done: string) => Promise<void>;
/** Shows a `ParlanceError` as a toast; false after one. */
export type Save = (values: Values, done: string) => Promise<boolean>;

/** Callers who may not set up the server have no settings. */
export function useSettings(): {
  readonly polled: Polled<Settings>;
  readonly change: Change;
  readonly save: Save;
} {
  const polled = usePolled(may(useServer(), 'setup') ? parlance.admin.settings.read : null);
  const version = polled.value?.version ?? 0;

  /** The rest of the console shows the change at once. */
  async function change(values: Values, done: string): Promise<void> {
    try {
      polled.set(await parlance.admin.settings.change({ version, values }));
    } finally {
      polled.again();
    }
    toast(done);
    await refreshServer();
  }

  return { polled, change, save: (values, done) => attempt(() => change(values, done)) };
}
