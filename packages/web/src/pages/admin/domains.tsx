/** Domains: groups of agents that a session can use. */

import { Button } from '@parlance/ui/components/button.tsx';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { jsonOf, type StoredCatalog, type StoredDomain, withDomain, withoutDomain } from './agents.ts';
import { IdentityFields } from './identity-fields.tsx';
import { OutdatedNotice } from './outdated-notice.tsx';
import { withName } from './tool-choice.tsx';
import { useDraft } from './use-draft.ts';
import type { Change } from './use-settings.ts';

type DialogState =
  | { readonly what: 'edit'; readonly domain: StoredDomain | null }
  | { readonly what: 'remove'; readonly domain: StoredDomain };

type DomainsProps = {
  readonly stored: StoredCatalog;
  /** ids of those in the config file */
  readonly fixed: readonly string[];
  readonly change: Change;
};

export function Domains({ stored, fixed, change }: DomainsProps) {
  const { agents, domains } = useServer();
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const close = () => setDialog(null);
  const isFixed = (id: string) => fixed.includes(id);
  const isStored = (id: string) => !isFixed(id) && stored.domains.some((domain) => domain.id === id);
  const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id;

  return (
    <>
      <div className="admin-head">
        <h3>Domains</h3>
        <Button icon="plus" onClick={() => setDialog({ what: 'edit', domain: null })}>
          New domain
        </Button>
      </div>
      <ul className="admin-list" aria-label="Domains">
        {domains.map((domain) => (
          <li className="card" key={domain.id}>
            <div className="admin-what">
              <strong>{domain.name}</strong> <code>{domain.id}</code>{' '}
              {!isStored(domain.id) && <Chip>{isFixed(domain.id) ? 'config file' : 'built in'}</Chip>}
              <p className="hint">
                {nameOf(domain.defaultAgent)} (default)
                {domain.agents
                  .filter((id) => id !== domain.defaultAgent)
                  .map((id) => `, ${nameOf(id)}`)
                  .join('')}
              </p>
            </div>
            {!isFixed(domain.id) && (
              <Button
                aria-label={`Edit the domain ${domain.name}`}
                onClick={() => setDialog({ what: 'edit', domain })}
              >
                Edit
              </Button>
            )}
            {isStored(domain.id) && (
              <Button
                aria-label={`Remove the domain ${domain.name}`}
                onClick={() => setDialog({ what: 'remove', domain })}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {dialog?.what === 'edit' && (
        <DomainDialog
          domain={dialog.domain && (domains.find(({ id }) => id === dialog.domain?.id) ?? dialog.domain)}
          close={close}
          save={(domain) => change(jsonOf(withDomain(stored, domain)), `${domain.name} was saved.`)}
        />
      )}
      {dialog?.what === 'remove' && (
        <Dialog
          title={`Remove ${dialog.domain.name}?`}
          confirm="Remove"
          danger
          onClose={close}
          onConfirm={() =>
            change(jsonOf(withoutDomain(stored, dialog.domain.id)), `${dialog.domain.name} was removed.`)
          }
        >
          <p>New sessions can no longer choose it. A built-in domain returns to its original agents.</p>
        </Dialog>
      )}
    </>
  );
}

// Dialog for a new or changed domain.

type DomainDialogProps = {
  /** null: a new one */
  readonly domain: StoredDomain | null;
  readonly close: () => void;
  readonly save: (domain: StoredDomain) => Promise<void>;
};

function DomainDialog({ domain, close, save }: DomainDialogProps) {
  const { agents, domains } = useServer();
  const draft = useDraft<StoredDomain>({
    id: domain?.id ?? '',
    name: domain?.name ?? '',
    description: domain?.description ?? '',
    defaultAgent: domain?.defaultAgent ?? agents[0]?.id ?? '',
    agents: domain?.agents ?? [],
  });
  const { fields, change } = draft;

  const confirm = () =>
    save({
      ...fields,
      id: fields.id.trim(),
      name: fields.name.trim(),
      description: fields.description.trim(),
      agents: [...new Set([fields.defaultAgent, ...fields.agents])],
    });

  return (
    <Dialog
      title={domain ? `Edit ${domain.name}` : 'New domain'}
      confirm="Save"
      onClose={close}
      onConfirm={confirm}
    >
      <IdentityFields fields={fields} isNew={domain === null} taken={domains} onChange={change} />
      <label className="field">
        Default agent
        <select value={fields.defaultAgent} onChange={({ target }) => change({ defaultAgent: target.value })}>
          {agents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <fieldset className="field checkboxes">
        <legend>Agents</legend>
        {agents.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={fields.agents.includes(id)}
              onChange={({ target }) => change({ agents: withName(fields.agents, id, target.checked) })}
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <OutdatedNotice draft={draft} />
    </Dialog>
  );
}
