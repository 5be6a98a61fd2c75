/** Domains: groups of agents that a session can use. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useServer } from '../../state/server.ts';
import { jsonOf, type StoredCatalog, type StoredDomain, withDomain, withoutDomain } from './agents.ts';
import { DomainQuestion } from './domain-question.tsx';
import type { Change } from './use-settings.ts';

type Asking =
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
  const [asking, setAsking] = useState<Asking | null>(null);
  const close = () => setAsking(null);
  const isFixed = (id: string) => fixed.includes(id);
  const isStored = (id: string) => !isFixed(id) && stored.domains.some((domain) => domain.id === id);
  const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id;

  return (
    <>
      <div className="admin-head">
        <h3>Domains</h3>
        <Button icon="plus" onClick={() => setAsking({ what: 'edit', domain: null })}>
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
                onClick={() => setAsking({ what: 'edit', domain })}
              >
                Edit
              </Button>
            )}
            {isStored(domain.id) && (
              <Button
                aria-label={`Remove the domain ${domain.name}`}
                onClick={() => setAsking({ what: 'remove', domain })}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {asking?.what === 'edit' && (
        <DomainQuestion
          domain={asking.domain && (domains.find(({ id }) => id === asking.domain?.id) ?? asking.domain)}
          close={close}
          save={(domain) => change(jsonOf(withDomain(stored, domain)), `${domain.name} was saved.`)}
        />
      )}
      {asking?.what === 'remove' && (
        <Dialog
          title={`Remove ${asking.domain.name}?`}
          confirm="Remove"
          danger
          onClose={close}
          onConfirm={() =>
            change(jsonOf(withoutDomain(stored, asking.domain.id)), `${asking.domain.name} was removed.`)
          }
        >
          <p>New sessions can no longer choose it. A built-in domain returns to its original agents.</p>
        </Dialog>
      )}
    </>
  );
}
