/** What a reader sets for this browser. */

import type { Pairing } from '@parlance/sdk';
import { Shortcuts } from '@parlance/ui/chat/commands.tsx';
import { attempt, Button, Notice, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { useShownFault } from '@parlance/ui/state/activity.ts';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { ThemeChoice } from '@parlance/ui/state/theme.tsx';
import { useState } from 'react';
import { Page } from '../../components/page.tsx';
import { SignInButton } from '../../components/sign-in-button.tsx';
import { turnOffNotifications, turnOnNotifications, useNotifications } from '../../state/notifications.ts';
import { usePolled } from '../../state/use-polled.ts';

export function SettingsPage() {
  return (
    <Page title="Settings">
      <div className="settings">
        <section aria-labelledby="settings-theme">
          <h2 id="settings-theme">Theme</h2>
          <ThemeChoice labelledBy="settings-theme" />
        </section>
        <Notifications />
        <McpSignIns />
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
  const [refused, setRefused] = useState<string | null>(null);
  return (
    <section aria-labelledby="settings-notifications">
      <h2 id="settings-notifications">Notifications</h2>
      <p className="hint">
        Get a desktop notification when an agent needs approval or has finished while this page is in the
        background.
      </p>
      {refused && <Notice variant="warning">{refused}</Notice>}
      {on ? (
        <Button onClick={turnOffNotifications}>Turn off</Button>
      ) : (
        <Button onClick={() => void turnOnNotifications().then(setRefused)}>Turn on</Button>
      )}
    </section>
  );
}

// MCP servers that each user signs in to.

const signIns = () => parlance.mcp.list();

function McpSignIns() {
  const { value, again } = usePolled(signIns);
  if (!value || value.length === 0) return null;

  async function signOut(name: string): Promise<void> {
    if (await attempt(() => parlance.mcp.end(name))) toast(`Signed out of ${name}.`);
    again();
  }

  return (
    <section aria-labelledby="settings-mcp">
      <h2 id="settings-mcp">MCP servers</h2>
      <p className="hint">Agents use these servers with your own account there.</p>
      <ul className="admin-list" aria-label="MCP servers">
        {value.map(({ name, signedIn }) => (
          <li className="card" key={name}>
            <strong className="admin-what">{name}</strong>
            {signedIn ? (
              <Button onClick={() => void signOut(name)}>Sign out</Button>
            ) : (
              <SignInButton name={name} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

// The caller's browser extensions.

const list = () => parlance.pairings.list();

function Extensions() {
  const { value, again, ...polled } = usePolled(list);
  const fault = useShownFault(polled.fault);
  const [dialog, setDialog] = useState<Pairing | null>(null);

  async function revoke({ id, name }: Pairing): Promise<void> {
    if (!(await attempt(() => parlance.pairings.revoke(id)))) return;
    toast(`${name} was disconnected.`);
    again();
  }

  return (
    <section aria-labelledby="settings-extensions">
      <h2 id="settings-extensions">Browser extensions</h2>
      <p className="hint">
        A connected extension acts as you. Install it, open its side panel and confirm the code it shows.
      </p>
      {fault && <Notice variant="danger">{fault.message}</Notice>}
      {value && value.pairings.length > 0 && (
        <ul className="admin-list" aria-label="Browser extensions">
          {value.pairings.map((pairing) => (
            <li className="card" key={pairing.id}>
              <div className="admin-what">
                <strong>{pairing.name}</strong>
                <p className="hint">
                  connected {new Date(pairing.allowedAt).toLocaleDateString()}
                  {pairing.key !== null && (
                    <>
                      {' '}
                      with the API key <code>plk_{pairing.key}…</code>
                    </>
                  )}
                  {pairing.expiresAt !== null && ` until ${new Date(pairing.expiresAt).toLocaleDateString()}`}{' '}
                  ·{' '}
                  {pairing.lastUsedAt === null
                    ? 'never used'
                    : `last used ${new Date(pairing.lastUsedAt).toLocaleString()}`}{' '}
                  · {pairing.origin}
                </p>
              </div>
              <Button aria-label={`Disconnect ${pairing.name}`} onClick={() => setDialog(pairing)}>
                Disconnect
              </Button>
            </li>
          ))}
        </ul>
      )}
      <a className="button" href={hrefOf({ page: 'pair' })}>
        Enter a code
      </a>
      {dialog && (
        <Dialog
          title={`Disconnect ${dialog.name}?`}
          confirm="Disconnect"
          danger
          onClose={() => setDialog(null)}
          onConfirm={() => void revoke(dialog)}
        >
          <p>The extension is disconnected immediately, and its tasks stop. You can connect it again.</p>
        </Dialog>
      )}
    </section>
  );
}
