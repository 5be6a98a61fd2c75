/** What a reader sets for this browser. */

import type { Pairing, SavedPrompt } from '@parlance/sdk';
import { Shortcuts } from '@parlance/ui/chat/commands.tsx';
import { isCommand } from '@parlance/ui/chat/slash.ts';
import { attempt, Button, Field, Notice, TextArea, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { useShownFault } from '@parlance/ui/state/activity.ts';
import { may } from '@parlance/ui/state/may.ts';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
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
        <Prompts />
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

// Prompts that become slash commands.

const savedPrompts = () => parlance.prompts.list();

function Prompts() {
  const { value, again, ...polled } = usePolled(savedPrompts);
  const fault = useShownFault(polled.fault);
  const [dialog, setDialog] = useState<Partial<SavedPrompt> | null>(null);
  const mayChange = may(useServer(), 'chat:send');
  if (!mayChange) return null;

  async function remove({ name, text }: SavedPrompt): Promise<void> {
    if (!(await attempt(() => parlance.prompts.remove(name)))) return;
    toast(`/${name} was removed.`, {
      label: 'Undo',
      run: () => void attempt(() => parlance.prompts.save({ name, text })).then(again),
    });
    again();
  }

  return (
    <section aria-labelledby="settings-prompts">
      <h2 id="settings-prompts">Saved prompts</h2>
      <p className="hint">
        A slash and the name put the text into the message field, here and in the terminal.
      </p>
      {fault && <Notice variant="danger">{fault.message}</Notice>}
      {value && value.length > 0 && (
        <ul className="admin-list" aria-label="Saved prompts">
          {value.map((prompt) => (
            <li className="card" key={prompt.name}>
              <div className="admin-what">
                <strong>/{prompt.name}</strong>
                <p className="hint">{prompt.text.slice(0, SHOWN_CHARACTERS)}</p>
              </div>
              <Button aria-label={`Edit ${prompt.name}`} onClick={() => setDialog(prompt)}>
                Edit
              </Button>
              <Button aria-label={`Remove ${prompt.name}`} onClick={() => void remove(prompt)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Button onClick={() => setDialog({})}>New prompt</Button>
      {dialog && (
        <PromptDialog
          prompt={dialog}
          onClose={() => setDialog(null)}
          onSave={async (prompt) => {
            await parlance.prompts.save(prompt);
            again();
          }}
        />
      )}
    </section>
  );
}

const SHOWN_CHARACTERS = 200;

type PromptDialogProps = {
  readonly prompt: Partial<SavedPrompt>;
  readonly onClose: () => void;
  readonly onSave: (prompt: SavedPrompt) => Promise<void>;
};

function PromptDialog({ prompt: { name, text }, onClose, onSave }: PromptDialogProps) {
  const [wanted, setWanted] = useState(name ?? '');
  const save = (fields: FormData) => onSave({ name: wanted, text: String(fields.get('text') ?? '') });
  const taken = isCommand(wanted) ? `/${wanted} is a command. Choose another name.` : '';
  return (
    <Dialog title={name ? `Edit /${name}` : 'New prompt'} confirm="Save" onClose={onClose} onConfirm={save}>
      <Field
        label="Name"
        name="name"
        value={wanted}
        readOnly={name !== undefined}
        required
        pattern="[a-z0-9][a-z0-9\-]{0,39}"
        title="Lower-case letters, digits and hyphens"
        placeholder="review"
        ref={(field) => field?.setCustomValidity(taken)}
        onChange={(event) => setWanted(event.target.value)}
      />
      <TextArea label="Text" name="text" defaultValue={text} required maxLength={20_000} rows={8} />
    </Dialog>
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
