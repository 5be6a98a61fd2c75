import { THEMES, type Theme } from '../state/stored-theme.ts';
import { setTheme, useTheme } from '../state/theme.ts';

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
