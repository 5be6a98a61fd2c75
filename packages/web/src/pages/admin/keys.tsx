/** API keys: the caller's own, and for admins those of everyone. */

import type { ApiKey, MadeApiKey } from '@parlance/sdk';
import {
  attempt,
  Button,
  Chip,
  Choice,
  CopyButton,
  Empty,
  Field,
  Notice,
  Select,
  toast,
} from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { Card, ROLES, rolesWithin, Section } from './section.tsx';

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
            <Dialog
              title={`Revoke ${dialog.key.name}?`}
              confirm="Revoke"
              danger
              onClose={close}
              onConfirm={() => void revoke(dialog.key)}
            >
              <p>
                Clients that use this key of {dialog.key.owner} are disconnected and refused, and so are
                browser extensions that were connected with it. Running turns continue. This cannot be undone.
              </p>
            </Dialog>
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
    <Card
      actions={
        <Button onClick={revoke} aria-label={`Revoke ${name}`}>
          Revoke
        </Button>
      }
    >
      <strong>{name}</strong> <Chip variant={role === 'admin' ? 'good' : 'plain'}>{role}</Chip>
      {foreign && <Chip variant="busy">{owner}</Chip>}
      {administration && <Chip variant="bad">administration</Chip>}
      {expired && <Chip variant="bad">expired</Chip>}
      {dialects?.map((dialect) => (
        <Chip key={dialect}>{dialect}</Chip>
      ))}
      <p className="hint">
        <code>plk_{id}…</code> · {dialects === null && 'all protocols · '}created {day(createdAt)} ·{' '}
        {expiresAt === null ? 'does not expire' : `${expired ? 'expired' : 'expires'} ${day(expiresAt)}`} ·{' '}
        {lastUsedAt === null ? 'never used' : `last used ${new Date(lastUsedAt).toLocaleString()}`}
      </p>
    </Card>
  );
}

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
      <Field label="Name" name="name" required maxLength={100} placeholder="laptop" />
      <Select
        label="Role"
        name="role"
        value={role}
        options={rolesWithin(principal.role).map((role) => [role, `${role}: ${ROLES[role]}`])}
        onChange={(event) => setRole(event.target.value)}
      />
      {role === 'admin' && (
        <Notice variant="danger">
          <label>
            <input type="checkbox" name="administration" /> Administration: manage users, passwords,
            connections and MCP servers. Whoever has this key can give themselves access that lasts after it
            is revoked.
          </label>
        </Notice>
      )}
      <Select
        label="Expires"
        name="lifetime"
        defaultValue="90 days"
        options={Object.keys(LIFETIMES).map((lifetime) => [lifetime, lifetime])}
      />
      <fieldset className="field checkboxes">
        <legend>Protocols</legend>
        {dialects.map(({ name }) => (
          <label key={name}>
            <input type="checkbox" name="dialect" value={name} /> {name}
          </label>
        ))}
      </fieldset>
      <p className="hint">If none is selected, the key works with all protocols.</p>
    </Dialog>
  );
}

// What can be chosen for a new API key.

/** In days; null: it does not expire. */
export const LIFETIMES: Readonly<Record<string, number | null>> = {
  '30 days': 30,
  '90 days': 90,
  '1 year': 365,
  never: null,
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/** ISO 8601; undefined if it does not expire. */
export function expiryAfter(lifetime: string, now: number): string | undefined {
  const days = LIFETIMES[lifetime] ?? null;
  return days === null ? undefined : new Date(now + days * DAY_MS).toISOString();
}
