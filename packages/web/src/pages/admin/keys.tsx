/** API keys: the caller's own, and for admins those of everyone. */

import type { Role } from '@parlance/protocol';
import type { ApiKey, MadeApiKey } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { Choice } from '@parlance/ui/components/choice.tsx';
import { CopyButton } from '@parlance/ui/components/copy-button.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { Empty } from '@parlance/ui/components/empty.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { attempt, toast } from '@parlance/ui/components/toast.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { expiryAfter, LIFETIMES, rolesWithin } from './key-choices.ts';
import { Section } from './section.tsx';

type DialogState = { readonly what: 'add' } | { readonly what: 'revoke'; readonly key: ApiKey };

export function KeysSection() {
  const { principal } = useServer();
  const [everyone, setEveryone] = useState(false);
  const polled = usePolled(everyone ? parlance.admin.keys : parlance.keys.list);
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const [createdKey, setCreatedKey] = useState<MadeApiKey | null>(null);
  const close = () => setDialog(null);

  async function revoke(key: ApiKey): Promise<void> {
    if (!(await attempt(() => parlance.keys.revoke(key.id)))) return;
    toast(`${key.name} was revoked.`);
    if (createdKey?.id === key.id) setCreatedKey(null);
    polled.again();
  }

  return (
    <Section
      title="API keys"
      polled={polled}
      actions={
        <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'add' })}>
          New key
        </Button>
      }
    >
      {(keys) => (
        <>
          <p className="hint">
            For clients that cannot sign in. A key acts as its user, works wherever a token does, and is valid
            until it expires or is revoked. Send it as <code>Authorization: Bearer</code> or{' '}
            <code>x-api-key</code>.
          </p>
          {principal.role === 'admin' && (
            <Choice label="Show" className="key-owners">
              {(id) => (
                <select
                  id={id}
                  value={everyone ? 'all' : 'mine'}
                  onChange={(event) => setEveryone(event.target.value === 'all')}
                >
                  <option value="mine">my keys</option>
                  <option value="all">keys of all users</option>
                </select>
              )}
            </Choice>
          )}
          {createdKey && <CreatedKey created={createdKey} close={() => setCreatedKey(null)} />}
          {keys.length === 0 ? (
            <Empty title="No API keys">
              Create one key per client, so that you can revoke them separately.
            </Empty>
          ) : (
            <ul className="admin-list" aria-label="API keys">
              {keys.map((key) => (
                <Row
                  key={key.id}
                  shown={key}
                  foreign={key.owner !== principal.id}
                  revoke={() => setDialog({ what: 'revoke', key })}
                />
              ))}
            </ul>
          )}
          {dialog?.what === 'add' && (
            <NewKey
              close={close}
              onCreated={(key) => {
                setCreatedKey(key);
                polled.again();
              }}
            />
          )}
          {dialog?.what === 'revoke' && (
            <RevokeKey shown={dialog.key} close={close} revoke={() => void revoke(dialog.key)} />
          )}
        </>
      )}
    </Section>
  );
}

/** The only time that the text of the key can be seen. */
function CreatedKey({ created, close }: { created: MadeApiKey; close: () => void }) {
  return (
    <div className="card key-made" role="status">
      <p>
        <strong>Copy the key for {created.name} now.</strong> It will not be shown again.
      </p>
      <div className="key-text">
        <code>{created.key}</code>
        <CopyButton text={created.key} label="Copy key" />
      </div>
      <div>
        <Button onClick={close}>Done</Button>
      </div>
    </div>
  );
}

function Row({ shown, foreign, revoke }: { shown: ApiKey; foreign: boolean; revoke: () => void }) {
  const { id, owner, name, role, dialects, administration, createdAt, expiresAt, lastUsedAt } = shown;
  const expired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const day = (time: string) => new Date(time).toLocaleDateString();
  return (
    <li className="card">
      <div className="admin-what">
        <strong>{name}</strong> <Chip variant={role === 'admin' ? 'good' : 'plain'}>{role}</Chip>
        {foreign && <Chip variant="busy">{owner}</Chip>}
        {administration && <Chip variant="bad">administration</Chip>}
        {expired && <Chip variant="bad">expired</Chip>}
        {dialects?.map((dialect) => (
          <Chip key={dialect}>{dialect}</Chip>
        ))}
        <p className="hint">
          <code>plk_{id}…</code> · {dialects === null && 'all dialects · '}created {day(createdAt)} ·{' '}
          {expiresAt === null ? 'does not expire' : `${expired ? 'expired' : 'expires'} ${day(expiresAt)}`} ·{' '}
          {lastUsedAt === null ? 'never used' : `last used ${new Date(lastUsedAt).toLocaleString()}`}
        </p>
      </div>
      <Button onClick={revoke} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
    </li>
  );
}

// Dialogs for a new API key and for its revocation.

const ROLES: Readonly<Record<Role, string>> = {
  user: 'chat only, cannot approve',
  developer: 'full access to your sessions',
  admin: 'full access to all sessions',
};

function NewKey({ close, onCreated }: { close: () => void; onCreated: (key: MadeApiKey) => void }) {
  const { principal, dialects } = useServer();
  const [role, setRole] = useState<string>(principal.role === 'admin' ? 'developer' : principal.role);

  async function make(fields: FormData): Promise<void> {
    const text = (name: string) => String(fields.get(name) ?? '');
    const chosen = fields.getAll('dialect').map(String);
    onCreated(
      await parlance.keys.add({
        name: text('name'),
        role: rolesWithin(principal.role).find((role) => role === text('role')),
        dialects: chosen.length === 0 ? undefined : chosen,
        administration: fields.has('administration'),
        expiresAt: expiryAfter(text('lifetime'), Date.now()),
      }),
    );
  }

  return (
    <Dialog title="New API key" confirm="Create key" onClose={close} onConfirm={make}>
      <label className="field">
        Name
        <input name="name" required maxLength={100} autoComplete="off" placeholder="laptop" />
      </label>
      <label className="field">
        Role
        <select name="role" value={role} onChange={(event) => setRole(event.target.value)}>
          {rolesWithin(principal.role).map((role) => (
            <option key={role} value={role}>
              {role}: {ROLES[role]}
            </option>
          ))}
        </select>
      </label>
      {role === 'admin' && (
        <Notice variant="danger">
          <label>
            <input type="checkbox" name="administration" /> Administration: manage users, passwords, origins
            and MCP servers. Whoever has this key can give themselves access that lasts after it is revoked.
          </label>
        </Notice>
      )}
      <label className="field">
        Expires
        <select name="lifetime" defaultValue="90 days">
          {Object.keys(LIFETIMES).map((lifetime) => (
            <option key={lifetime} value={lifetime}>
              {lifetime}
            </option>
          ))}
        </select>
      </label>
      <fieldset className="field checkboxes">
        <legend>Dialects</legend>
        {dialects.map(({ name }) => (
          <label key={name}>
            <input type="checkbox" name="dialect" value={name} /> {name}
          </label>
        ))}
      </fieldset>
      <p className="hint">If none is selected, the key works with all dialects.</p>
    </Dialog>
  );
}

type RevokeProps = { readonly shown: ApiKey; readonly close: () => void; readonly revoke: () => void };

function RevokeKey({ shown, close, revoke }: RevokeProps) {
  return (
    <Dialog title={`Revoke ${shown.name}?`} confirm="Revoke" danger onClose={close} onConfirm={revoke}>
      <p>
        Clients that use this key of {shown.owner} are disconnected and refused, and so are browser extensions
        that were connected with it. Running turns continue. This cannot be undone.
      </p>
    </Dialog>
  );
}
