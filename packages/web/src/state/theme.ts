/** Light or dark, as the reader chose or as the system has it. */
import { useSyncExternalStore } from 'react';
import { readStorage, writeStorage } from './storage.ts';
import { store, useStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const NAME = 'parlance.theme';

const theme = store<Theme>(THEMES.find((one) => one === readStorage('local', NAME)) ?? 'system');
export const useTheme = (): Theme => useStore(theme);

export function setTheme(next: Theme): void {
  theme.set(next);
  writeStorage('local', NAME, next === 'system' ? null : next);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
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
