/** Dialogs for a new API key and for its revocation. */
import type { Role } from '@parlance/protocol';
import type { ApiKey, MadeApiKey } from '@parlance/sdk';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { parlance, useServer } from '../../state/server.ts';
import { expiryAfter, LIFETIMES, rolesWithin } from './key-choices.ts';

const ROLES: Readonly<Record<Role, string>> = {
  user: 'chat only, cannot approve',
  developer: 'full access to your sessions',
  admin: 'full access to all sessions',
};

export function NewKey({ close, made }: { close: () => void; made: (key: MadeApiKey) => void }) {
  const { principal, dialects } = useServer();
  const [role, setRole] = useState<string>(principal.role === 'admin' ? 'developer' : principal.role);

  async function make(fields: FormData): Promise<void> {
    const text = (name: string) => String(fields.get(name) ?? '');
    const chosen = fields.getAll('dialect').map(String);
    made(
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

export function RevokeKey({ shown, close, revoke }: RevokeProps) {
  return (
    <Dialog title={`Revoke ${shown.name}?`} confirm="Revoke" danger onClose={close} onConfirm={revoke}>
      <p>
        Clients that use this key of {shown.owner} are disconnected and refused, and so are browser extensions
        that were connected with it. Running turns continue. This cannot be undone.
      </p>
    </Dialog>
  );
}
