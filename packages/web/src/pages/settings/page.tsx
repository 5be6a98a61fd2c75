/** What a reader sets for this browser. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Shortcuts } from '../../components/shortcuts.tsx';
import {
  canNotify,
  turnOffNotifications,
  turnOnNotifications,
  useNotifications,
} from '../../state/notifications.ts';
import { THEMES, type Theme } from '../../state/stored-theme.ts';
import { setTheme, useTheme } from '../../state/theme.ts';
import { Extensions } from './extensions.tsx';

const LABELS: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

export function SettingsPage() {
  const theme = useTheme();
  return (
    <Page title="Settings">
      <div className="settings">
        <section aria-labelledby="settings-theme">
          <h2 id="settings-theme">Theme</h2>
          <div className="choices" role="radiogroup" aria-labelledby="settings-theme">
            {THEMES.map((one) => (
              <label key={one}>
                <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
                {LABELS[one]}
              </label>
            ))}
          </div>
        </section>
        <Notifications />
        <Extensions />
        <section aria-labelledby="settings-keys">
          <h2 id="settings-keys">Keyboard shortcuts</h2>
          <Shortcuts />
        </section>
      </div>
    </Page>
  );
}

function Notifications() {
  const on = useNotifications();
  const [refused, setRefused] = useState(false);
  return (
    <section aria-labelledby="settings-notifications">
      <h2 id="settings-notifications">Notifications</h2>
      <p className="hint">
        Get a desktop notification when an agent needs approval or has finished while this page is in the
        background.
      </p>
      {refused && (
        <Notice variant="warning">
          This browser does not allow notifications for this page. Allow them in the site settings and try
          again.
        </Notice>
      )}
      {on ? (
        <Button onClick={turnOffNotifications}>Turn off</Button>
      ) : (
        <Button
          disabled={!canNotify()}
          onClick={() => void turnOnNotifications().then((granted) => setRefused(!granted))}
        >
          Turn on
        </Button>
      )}
    </section>
  );
}
