/** Browser storage, with memory as a fallback if it is full or blocked (private windows), and the theme that is kept in it. */

const memory = new Map<string, string>();

/** `session`: until the tab is closed; `local`: until removed */
type Where = 'session' | 'local';

function storageOf(where: Where): Storage | null {
  try {
    return where === 'session' ? globalThis.sessionStorage : globalThis.localStorage;
  } catch {
    return null;
  }
}

export function readStorage(where: Where, name: string): string | null {
  try {
    return storageOf(where)?.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

export function writeStorage(where: Where, name: string, value: string | null): void {
  // What is stored may be changed by another tab.
  memory.delete(name);
  if (!stored(where, name, value) && value !== null) memory.set(name, value);
}

/** False if the storage is full or blocked. */
function stored(where: Where, name: string, value: string | null): boolean {
  const storage = storageOf(where);
  try {
    if (value === null) storage?.removeItem(name);
    else storage?.setItem(name, value);
    return Boolean(storage);
  } catch {
    return false;
  }
}

// The theme that was chosen in this browser. Without React: the page shows it before it is drawn.

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
