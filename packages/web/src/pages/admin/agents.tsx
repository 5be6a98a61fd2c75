/** Agents and domains: those that ship, and those that were added here. */
import type { AgentSetup, Settings } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { ModelPicker } from '@parlance/ui/components/model-picker/model-picker.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import {
  jsonOf,
  type StoredAgent,
  storedAgents,
  storedDomains,
  storedFrom,
  withAgent,
  withoutAgent,
} from './agents.ts';
import { Domains } from './domains.tsx';
import { GivenNotice } from './given-notice.tsx';
import { IdentityFields } from './identity-fields.tsx';
import { OutdatedNotice } from './outdated-notice.tsx';
import { Section } from './section.tsx';
import { ToolChoice } from './tool-choice.tsx';
import { useDraft } from './use-draft.ts';
import { type Change, useSettings } from './use-settings.ts';

type DialogState =
  | { readonly what: 'edit'; readonly agent: StoredAgent | null }
  | { readonly what: 'remove'; readonly agent: StoredAgent };

export function AgentsSection() {
  const about = useServer();
  const { polled, change: changeSettings } = useSettings();
  const { value: setup, again } = usePolled(parlance.admin.agents);
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const close = () => setDialog(null);
  const isFixed = (id: string) => setup?.fixed.agents.includes(id) ?? false;
  const own = storedAgents(polled.value?.stored.agents);
  const domains = storedDomains(polled.value?.stored.domains);
  const others = about.agents.filter(({ id }) => isFixed(id) || !own.some((agent) => agent.id === id));
  const stored = { agents: own, domains };
  const change: Change = async (values, done) => {
    await changeSettings(values, done);
    again();
  };
  function agentOf(id: string): StoredAgent | undefined {
    const listed = setup?.agents.find((agent) => agent.id === id);
    return own.find((agent) => agent.id === id) ?? (listed && storedFrom(listed));
  }
  /** A domain of the config file takes no other agents. */
  const domainsFor = (agent: string | undefined) =>
    about.domains.filter(
      ({ id, agents }) =>
        !setup?.fixed.domains.includes(id) || (agent !== undefined && agents.includes(agent)),
    );
  function edit(id: string): void {
    const agent = agentOf(id);
    if (agent) setDialog({ what: 'edit', agent });
  }

  return (
    <Section
      title="Agents"
      polled={polled}
      actions={
        <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'edit', agent: null })}>
          New agent
        </Button>
      }
    >
      {(settings: Settings) => (
        <>
          <p className="hint">
            An agent has its own instructions and, optionally, its own model and tools. A domain is a group of
            agents that a session can use.
          </p>
          <GivenNotice settings={settings} keys={['agents', 'domains']} />
          <ul className="admin-list" aria-label="Agents">
            {own
              .filter(({ id }) => !isFixed(id))
              .map((agent) => (
                <li className="card" key={agent.id}>
                  <div className="admin-what">
                    <strong>{agent.name}</strong> <code>{agent.id}</code>
                    {agent.model && <Chip>{agent.model}</Chip>}
                    {agent.description && <p className="hint">{agent.description}</p>}
                  </div>
                  <Button onClick={() => setDialog({ what: 'edit', agent })}>Edit</Button>
                  <Button onClick={() => setDialog({ what: 'remove', agent })}>Remove</Button>
                </li>
              ))}
            {others.map(({ id, name, description, model }) => (
              <li className="card" key={id}>
                <div className="admin-what">
                  <strong>{name}</strong> <code>{id}</code>{' '}
                  <Chip>{isFixed(id) ? 'config file' : 'built in'}</Chip>
                  {model && <Chip>{model}</Chip>}
                  {description && <p className="hint">{description}</p>}
                </div>
                {!isFixed(id) && (
                  <Button aria-label={`Edit ${name}`} onClick={() => edit(id)}>
                    Edit
                  </Button>
                )}
              </li>
            ))}
          </ul>
          {dialog?.what === 'edit' && (
            <AgentDialog
              agent={dialog.agent && (agentOf(dialog.agent.id) ?? dialog.agent)}
              tools={setup?.tools ?? []}
              domains={domainsFor(dialog.agent?.id)}
              domainOf={domainOf(dialog.agent?.id, about.domains) ?? about.defaultDomain}
              close={close}
              save={(agent, domainId) => {
                const domain = about.domains.find(({ id }) => id === domainId);
                return change(jsonOf(withAgent(stored, agent, domain)), `${agent.name} was saved.`);
              }}
            />
          )}
          {dialog?.what === 'remove' && (
            <Dialog
              title={`Remove ${dialog.agent.name}?`}
              confirm="Remove"
              danger
              onClose={close}
              onConfirm={() =>
                change(jsonOf(withoutAgent(stored, dialog.agent.id)), `${dialog.agent.name} was removed.`)
              }
            >
              <p>
                Sessions that use this agent cannot continue until you choose another one for them. A built-in
                agent returns to its original instructions.
              </p>
            </Dialog>
          )}
          <Domains stored={stored} fixed={setup?.fixed.domains ?? []} change={change} />
        </>
      )}
    </Section>
  );
}

const domainOf = (
  agent: string | undefined,
  domains: readonly { readonly id: string; readonly agents: readonly string[] }[],
): string | undefined => domains.find(({ agents }) => agent !== undefined && agents.includes(agent))?.id;

// Dialog for a new or changed agent.

/** The server takes no more. */
const MAX_STARTERS = 6;

type AgentDialogProps = {
  /** null: a new one */
  readonly agent: StoredAgent | null;
  readonly tools: AgentSetup['tools'];
  /** those that can be chosen */
  readonly domains: readonly { readonly id: string; readonly name: string }[];
  readonly domainOf: string;
  readonly close: () => void;
  readonly save: (agent: StoredAgent, domain: string) => Promise<void>;
};

const fieldsOf = (agent: StoredAgent | null, domain: string) => ({
  id: agent?.id ?? '',
  name: agent?.name ?? '',
  description: agent?.description ?? '',
  instructions: agent?.instructions ?? '',
  domain,
  model: agent?.model ?? null,
  tools: agent?.tools ?? null,
  /** one per line */
  starters: agent?.starters?.join('\n') ?? '',
});

type Fields = ReturnType<typeof fieldsOf>;

function agentIn(fields: Fields, agent: StoredAgent | null): StoredAgent {
  const starters = fields.starters
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_STARTERS);
  return {
    ...agent,
    id: fields.id.trim(),
    name: fields.name.trim(),
    description: fields.description.trim(),
    instructions: fields.instructions.trim(),
    model: fields.model ?? undefined,
    tools: fields.tools ?? undefined,
    starters: starters.length === 0 ? undefined : starters,
  };
}

function AgentDialog({ agent, tools, domains, domainOf, close, save }: AgentDialogProps) {
  const about = useServer();
  const draft = useDraft(fieldsOf(agent, domainOf));
  const { fields, change } = draft;
  return (
    <Dialog
      title={agent ? `Edit ${agent.name}` : 'New agent'}
      confirm="Save"
      onClose={close}
      onConfirm={() => save(agentIn(fields, agent), fields.domain)}
    >
      <IdentityFields fields={fields} isNew={agent === null} taken={about.agents} onChange={change} />
      <label className="field">
        Instructions
        <textarea
          required
          rows={6}
          maxLength={50_000}
          value={fields.instructions}
          onChange={({ target }) => change({ instructions: target.value })}
        />
      </label>
      <label className="field">
        Domain
        <select value={fields.domain} onChange={({ target }) => change({ domain: target.value })}>
          {domains.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div className="field">
        Model
        <ModelPicker
          field
          value={fields.model}
          fallback={about.model}
          onChoose={(model) => change({ model })}
        />
      </div>
      <ToolChoice chosen={fields.tools} tools={tools} onChoose={(tools) => change({ tools })} />
      <label className="field">
        Starters, one per line
        <textarea
          rows={3}
          maxLength={1_000}
          value={fields.starters}
          placeholder="First messages offered in a new session"
          onChange={({ target }) => change({ starters: target.value })}
        />
      </label>
      <OutdatedNotice draft={draft} />
    </Dialog>
  );
}
