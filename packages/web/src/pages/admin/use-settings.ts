/** The settings that can be changed while the server runs. */
import type { Json } from '@parlance/protocol';
import type { Settings } from '@parlance/sdk';
import { attempt, toast } from '../../components/toast.tsx';
import { lookAround, parlance } from '../../state/server.ts';
import { type Polled, usePolled } from '../../state/use-polled.ts';

export type Save = (values: Readonly<Record<string, Json>>, done: string) => Promise<boolean>;

export function useSettings(): { readonly polled: Polled<Settings>; readonly save: Save } {
  const polled = usePolled(parlance.admin.settings.read);
  const version = polled.value?.version ?? 0;

  /** The rest of the console shows the change at once. */
  async function save(values: Readonly<Record<string, Json>>, done: string): Promise<boolean> {
    const saved = await attempt(() => parlance.admin.settings.change({ version, values }));
    polled.again();
    if (!saved) return false;
    toast(done);
    await lookAround();
    return true;
  }

  return { polled, save };
}
