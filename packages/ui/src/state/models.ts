/** The models that providers list. Loaded when a model is about to be chosen; a known list is shown meanwhile. */
import { ParlanceError, type ProviderModels } from '@parlance/sdk';
import { access, parlance } from './server.ts';
import { store, useStore } from './store.ts';

export type ListedModels = {
  /** null before the first response */
  readonly providers: readonly ProviderModels[] | null;
  readonly loading: boolean;
  /** why the last request failed */
  readonly problem: string | null;
};

const NONE: ListedModels = { providers: null, loading: false, problem: null };
const listed = store<ListedModels>(NONE);
access.subscribe(() => access.get().status === 'out' && listed.set(NONE));

export const useListedModels = (): ListedModels => useStore(listed);

export async function loadModels(): Promise<void> {
  const { providers, loading } = listed.get();
  if (loading) return;
  listed.set({ providers, loading: true, problem: null });
  try {
    listed.set({ providers: await parlance.models(), loading: false, problem: null });
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    listed.set({ providers, loading: false, problem: thrown.message });
  }
}
