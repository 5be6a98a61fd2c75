/** Server, site permissions, browser tools and theme. */
import { Button, Chip } from '@parlance/ui/components/controls.tsx';
import { ThemeChoice } from '@parlance/ui/state/theme.tsx';
import type { Paired } from '../../shared/records.ts';
import { siteName } from '../../shared/sites.ts';
import { sites, toolsOn, toolUses } from '../../shared/storage.ts';
import { endPairing } from '../pair/page.tsx';
import { sendToWorker, useStored } from '../state.ts';

export function SettingsPage({ paired }: { paired: Paired }) {
  return (
    <main className="panel-page">
      <h2>Settings</h2>
      <section aria-labelledby="settings-server">
        <h3 id="settings-server">Server</h3>
        <p>
          {paired.url}, as <strong>{paired.owner}</strong>
        </p>
        <Button onClick={() => void endPairing(paired)}>Disconnect</Button>
      </section>
      <Sites />
      <Tools />
      <Themes />
    </main>
  );
}

function Sites() {
  const all = Object.entries(useStored(sites) ?? {}).sort();
  return (
    <section aria-labelledby="settings-sites">
      <h3 id="settings-sites">Sites</h3>
      <p className="hint">
        Other sites ask first. Payments, downloads, uploads, leaving a site and running code always ask, also
        on allowed sites.
      </p>
      {all.length === 0 && <p>No sites are allowed or blocked yet.</p>}
      <ul className="panel-list">
        {all.map(([site, permission]) => (
          <li key={site} className="site-row">
            <span>{siteName(site)}</span>
            <Chip variant={permission === 'allow' ? 'good' : 'bad'}>
              {permission === 'allow' ? 'Allowed' : 'Never'}
            </Chip>
            <Button
              aria-label={`Forget ${siteName(site)}`}
              onClick={() => void sendToWorker({ kind: 'site', site, choice: 'ask' })}
            >
              Forget
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Tools() {
  const on = useStored(toolsOn);
  const uses = (useStored(toolUses) ?? []).toReversed();
  if (on === null) return null;
  return (
    <section aria-labelledby="settings-tools">
      <h3 id="settings-tools">Browser tools</h3>
      <label className="panel-choice">
        {/* Not controlled: the storage answers later than the click. */}
        <input
          key={String(on)}
          type="checkbox"
          defaultChecked={on}
          onChange={(event) => void toolsOn.set(event.target.checked)}
        />
        Agents in the terminal, the console and other clients may use this browser
      </label>
      <p className="hint">The permissions above apply. You see what they do, and can stop it at any time.</p>
      {uses.length > 0 && (
        <ul className="panel-list" aria-label="Recent use">
          {uses.map(({ id, at, description, site, state, message }) => (
            <li key={id} className="site-row">
              <span>
                {description}
                {site !== null && ` on ${siteName(site)}`}
                <span className="hint">
                  {' '}
                  {new Date(at).toLocaleTimeString()} {message}
                </span>
              </span>
              <Chip variant={state === 'done' ? 'good' : state === 'failed' ? 'bad' : 'busy'}>{state}</Chip>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Themes() {
  return (
    <section aria-labelledby="settings-theme">
      <h3 id="settings-theme">Theme</h3>
      <ThemeChoice labelledBy="settings-theme" />
    </section>
  );
}
