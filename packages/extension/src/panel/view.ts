/** What the panel shows. */
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';

export type View =
  /** null: a session that does not exist yet */
  | { readonly page: 'chat'; readonly session: string | null }
  | { readonly page: 'sessions' }
  | { readonly page: 'settings' };

const LAST = 'parlance.panel.session';

const view = store<View>({ page: 'chat', session: readStorage('session', LAST) });
export const useView = (): View => useStore(view);

export function show(next: View): void {
  if (next.page === 'chat') writeStorage('session', LAST, next.session);
  view.set(next);
}
