/** Light or dark, as the reader chose or as the system has it. */
import { showTheme, storedTheme, storeTheme, THEME_KEY, THEMES, type Theme } from './storage.ts';
import { store, useMedia, useStore } from './store.ts';

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

/** Whether the page is dark now. */
export function useDark(): boolean {
  const chosen = useTheme();
  const system = useMedia('(prefers-color-scheme: dark)');
  return chosen === 'system' ? system : chosen === 'dark';
}

const LABELS: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

/** The radio buttons; the element with this id is their label. */
export function ThemeChoice({ labelledBy }: { readonly labelledBy: string }) {
  const theme = useTheme();
  return (
    <div className="choices" role="radiogroup" aria-labelledby={labelledBy}>
      {THEMES.map((one) => (
        <label key={one}>
          <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
          {LABELS[one]}
        </label>
      ))}
    </div>
  );
}
