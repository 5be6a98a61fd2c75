/** Light or dark, as the reader chose or as the system has it. */
import { useSyncExternalStore } from 'react';
import { store, useStore } from './store.ts';
import { showTheme, storedTheme, storeTheme, THEME_KEY, type Theme } from './stored-theme.ts';

const theme = store<Theme>(storedTheme());
export const useTheme = (): Theme => useStore(theme);

export function setTheme(next: Theme): void {
  storeTheme(next);
  theme.set(next);
}

/** Shows the theme from now on, also if another tab changes it (`key` is null if all storage is cleared). */
export function followTheme(): void {
  showTheme(theme.get());
  theme.subscribe(() => showTheme(theme.get()));
  addEventListener('storage', (event) => {
    const { key } = event as StorageEvent;
    if (key === THEME_KEY || key === null) theme.set(storedTheme());
  });
}

const DARK = '(prefers-color-scheme: dark)';

function subscribe(listener: () => void): () => void {
  const query = matchMedia(DARK);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

/** Whether the page is dark now. */
export function useDark(): boolean {
  const chosen = useTheme();
  const system = useSyncExternalStore(subscribe, () => matchMedia(DARK).matches);
  return chosen === 'system' ? system : chosen === 'dark';
}
