/** The theme that was chosen in this browser. Without React: the page shows it before it is drawn. */
import { readStorage, writeStorage } from './storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const THEME_KEY = 'parlance.theme';

export const storedTheme = (): Theme =>
  THEMES.find((theme) => theme === readStorage('local', THEME_KEY)) ?? 'system';

export const storeTheme = (theme: Theme): void =>
  writeStorage('local', THEME_KEY, theme === 'system' ? null : theme);

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
