/** Agents and domains: those that ship, and those that were added here. A domain is a group of agents that a session can use. */
import type { Json, JsonObject } from '@parlance/protocol';
import type { About, AgentSetup, ServerSkill } from '@parlance/sdk';
import { Button, Chip, Field, IconButton, Select, TextArea } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { ModelPicker } from '@parlance/ui/components/model-picker/model-picker.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { type ReactNode, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import {
  Card,
  Checkboxes,
  GivenNotice,
  linesIn,
  OutdatedNotice,
  RemoveDialog,
  refuseTaken,
  Section,
  useDraft,
  useSettings,
} from './section.tsx';

/** null: a new one */
type DialogState =
  | { readonly what: 'agent'; readonly edited: StoredAgent | null }
  | { readonly what: 'domain'; readonly edited: StoredDomain | null }
  | { readonly what: 'removeAgent' | 'removeDomain'; readonly removed: Entry };

export function AgentsSection() {
  const about = useServer();
  const { polled, change } = useSettings();
  const { value: setup, again } = usePolled(parlance.admin.agents);
  const { value: skills } = usePolled(parlance.admin.skills.list);
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const close = () => setDialog(null);
  const stored: StoredCatalog = {
    agents: storedIn(polled.value?.stored.agents),
    domains: storedIn(polled.value?.stored.domains),
  };
  const isFixed = (kind: 'agents' | 'domains', id: string) => setup?.fixed[kind].includes(id) ?? false;
  const isStored = (kind: 'agents' | 'domains', id: string) =>
    !isFixed(kind, id) && stored[kind].some((item) => item.id === id);
  const entryOf = (kind: 'agents' | 'domains', { id, name }: NameAndId) => ({
    id,
    name,
    isStored: isStored(kind, id),
    isFixed: isFixed(kind, id),
  });
  const own = stored.agents.filter(({ id }) => !isFixed('agents', id));
  const others = about.agents.filter(({ id }) => !isStored('agents', id));
  const nameOf = (id: string) => about.agents.find((agent) => agent.id === id)?.name ?? id;

  async function save(catalog: StoredCatalog, done: string): Promise<void> {
    await change(jsonOf(catalog), done);
    again();
  }

  function agentOf(id: string): StoredAgent | undefined {
    const listed = setup?.agents.find((agent) => agent.id === id);
    return stored.agents.find((agent) => agent.id === id) ?? (listed && storedFrom(listed));
  }
  function editAgent({ id }: NameAndId): void {
    const edited = agentOf(id);
    if (edited) setDialog({ what: 'agent', edited });
  }

  return (
    <Section
      title="Agents"
      polled={polled}
      actions={
        <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'agent', edited: null })}>
          New agent
        </Button>
      }
    >
      {(settings) => (
        <>
          <p className="hint">
            An agent has its own instructions and, optionally, its own model and tools. A domain is a group of
            agents that a session can use.
          </p>
          <GivenNotice settings={settings} keys={['agents', 'domains']} />
          <Entries
            label="Agents"
            prefix=""
            entries={[...own, ...others].map((agent) => ({
              ...entryOf('agents', agent),
              model: agent.model,
              hint: agent.description,
            }))}
            onEdit={editAgent}
            onRemove={(removed) => setDialog({ what: 'removeAgent', removed })}
          />
          <div className="admin-head">
            <h3>Domains</h3>
            <Button icon="plus" onClick={() => setDialog({ what: 'domain', edited: null })}>
              New domain
            </Button>
          </div>
          <Entries
            label="Domains"
            prefix="the domain "
            entries={about.domains.map((domain) => ({
              ...entryOf('domains', domain),
              hint: [
                `${nameOf(domain.defaultAgent)} (default)`,
                ...domain.agents.filter((id) => id !== domain.defaultAgent).map(nameOf),
              ].join(', '),
            }))}
            onEdit={({ id }) =>
              setDialog({ what: 'domain', edited: about.domains.find((domain) => domain.id === id) ?? null })
            }
            onRemove={(removed) => setDialog({ what: 'removeDomain', removed })}
          />
          {dialog?.what === 'agent' && (
            <AgentDialog
              agent={dialog.edited && (agentOf(dialog.edited.id) ?? dialog.edited)}
              tools={setup?.tools ?? []}
              skills={skills?.filter(({ problem }) => problem === null) ?? []}
              // A domain of the config file takes no other agents.
              domains={about.domains.filter(
                ({ id, agents }) =>
                  !isFixed('domains', id) || (dialog.edited && agents.includes(dialog.edited.id)),
              )}
              close={close}
              save={(agent, domainId) => {
                const domain = about.domains.find(({ id }) => id === domainId);
                return save(withAgent(stored, agent, domain), `${agent.name} was saved.`);
              }}
            />
          )}
          {dialog?.what === 'domain' && (
            <DomainDialog
              domain={
                dialog.edited && (about.domains.find(({ id }) => id === dialog.edited?.id) ?? dialog.edited)
              }
              close={close}
              save={(domain) => save(withDomain(stored, domain), `${domain.name} was saved.`)}
            />
          )}
          {dialog?.what === 'removeAgent' && (
            <RemoveDialog
              name={dialog.removed.name}
              onClose={close}
              onConfirm={() =>
                save(withoutAgent(stored, dialog.removed.id), `${dialog.removed.name} was removed.`)
              }
            >
              Sessions that use this agent cannot continue until you choose another one for them. A built-in
              agent returns to its original instructions.
            </RemoveDialog>
          )}
          {dialog?.what === 'removeDomain' && (
            <RemoveDialog
              name={dialog.removed.name}
              onClose={close}
              onConfirm={() =>
                save(withoutDomain(stored, dialog.removed.id), `${dialog.removed.name} was removed.`)
              }
            >
              New sessions can no longer choose it. A built-in domain returns to its original agents.
            </RemoveDialog>
          )}
        </>
      )}
    </Section>
  );
}

type NameAndId = { readonly id: string; readonly name: string };

/** An agent or a domain in its list. */
type Entry = NameAndId & {
  readonly model?: string | null | undefined;
  readonly hint?: ReactNode;
  /** added or changed here */
  readonly isStored: boolean;
  /** in the config file */
  readonly isFixed: boolean;
};

type EntriesProps = {
  readonly label: string;
  /** before the name in the label of a button */
  readonly prefix: string;
  readonly entries: readonly Entry[];
  readonly onEdit: (entry: Entry) => void;
  readonly onRemove: (entry: Entry) => void;
};

const Entries = ({ label, prefix, entries, onEdit, onRemove }: EntriesProps) => (
  <ul className="admin-list" aria-label={label}>
    {entries.map((entry) => {
      const { id, name, model, hint, isStored, isFixed } = entry;
      return (
        <Card
          key={id}
          actions={
            <>
              {!isFixed && (
                <Button aria-label={`Edit ${prefix}${name}`} onClick={() => onEdit(entry)}>
                  Edit
                </Button>
              )}
              {isStored && (
                <Button aria-label={`Remove ${prefix}${name}`} onClick={() => onRemove(entry)}>
                  Remove
                </Button>
              )}
            </>
          }
        >
          <strong>{name}</strong> <code>{id}</code>{' '}
          {!isStored && <Chip>{isFixed ? 'config file' : 'built in'}</Chip>}
          {model && <Chip>{model}</Chip>}
          {hint && <p className="hint">{hint}</p>}
        </Card>
      );
    })}
  </ul>
);

/** The server takes no more. */
const MAX_STARTERS = 6;

type AgentDialogProps = {
  /** null: a new one */
  readonly agent: StoredAgent | null;
  readonly tools: AgentSetup['tools'];
  readonly skills: readonly ServerSkill[];
  /** those that can be chosen */
  readonly domains: readonly NameAndId[];
  readonly close: () => void;
  readonly save: (agent: StoredAgent, domain: string) => Promise<void>;
};

function AgentDialog({ agent, tools, skills, domains, close, save }: AgentDialogProps) {
  const about = useServer();
  const current = about.domains.find(({ agents }) => agent && agents.includes(agent.id));
  const draft = useDraft({
    id: agent?.id ?? '',
    name: agent?.name ?? '',
    description: agent?.description ?? '',
    instructions: agent?.instructions ?? '',
    domain: current?.id ?? about.defaultDomain,
    model: agent?.model ?? null,
    tools: agent?.tools ?? null,
    skills: agent?.skills ?? null,
    /** one per line */
    starters: agent?.starters?.join('\n') ?? '',
  });
  const { fields, change } = draft;
  const [first = null, ...others] = fields.model === null ? [] : namesIn(fields.model);

  function confirm(): Promise<void> {
    const starters = linesIn(fields.starters).slice(0, MAX_STARTERS);
    const entered: StoredAgent = {
      ...agent,
      ...identityIn(fields),
      instructions: fields.instructions.trim(),
      model: fields.model ?? undefined,
      tools: fields.tools ?? undefined,
      skills: fields.skills ?? undefined,
      starters: starters.length === 0 ? undefined : starters,
    };
    return save(entered, fields.domain);
  }

  return (
    <Dialog
      title={agent ? `Edit ${agent.name}` : 'New agent'}
      confirm="Save"
      onClose={close}
      onConfirm={confirm}
    >
      <IdentityFields fields={fields} isNew={agent === null} taken={about.agents} onChange={change} />
      <TextArea
        label="Instructions"
        required
        rows={6}
        maxLength={50_000}
        value={fields.instructions}
        onChange={({ target }) => change({ instructions: target.value })}
      />
      <Select
        label="Domain"
        value={fields.domain}
        options={domains.map(({ id, name }) => [id, name])}
        onChange={({ target }) => change({ domain: target.value })}
      />
      <div className="field">
        Model
        <ModelPicker
          field
          value={first}
          fallback={about.model}
          onChoose={(model) => change({ model: model === null ? null : chainOf([model, ...others]) })}
        />
      </div>
      {first !== null && (
        <FallbackModels
          models={others}
          onChange={(models) => change({ model: chainOf([first, ...models]) })}
        />
      )}
      <OfferedChoice
        what="tools"
        chosen={fields.tools}
        offered={tools}
        onChoose={(tools) => change({ tools })}
      />
      <OfferedChoice
        what="skills"
        chosen={fields.skills}
        offered={skills}
        onChoose={(skills) => change({ skills })}
      />
      <TextArea
        label="Starters, one per line"
        rows={3}
        maxLength={1_000}
        value={fields.starters}
        placeholder="First messages offered in a new session"
        onChange={({ target }) => change({ starters: target.value })}
      />
      <OutdatedNotice draft={draft} />
    </Dialog>
  );
}

const MAX_FALLBACKS = 7;

/** A chain of models is one text: `gpt-5.5, claude-opus-4-7`. */
const namesIn = (chain: string): string[] =>
  chain
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
const chainOf = (models: readonly string[]): string => [...new Set(models)].join(', ');

type FallbackModelsProps = {
  readonly models: readonly string[];
  readonly onChange: (models: readonly string[]) => void;
};

/** The models that answer while those before them are unavailable, in order. */
function FallbackModels({ models, onChange }: FallbackModelsProps) {
  const about = useServer();
  return (
    <fieldset className="fallback-models">
      <legend>If it is unavailable</legend>
      <ol>
        {models.map((model, index) => (
          <li key={model}>
            <span>{model}</span>
            <IconButton
              icon="send"
              label={`Ask ${model} earlier`}
              disabled={index === 0}
              onClick={() => onChange(moved(models, index))}
            />
            <IconButton
              icon="close"
              label={`Do not ask ${model}`}
              onClick={() => onChange(models.filter((one) => one !== model))}
            />
          </li>
        ))}
      </ol>
      {models.length < MAX_FALLBACKS && (
        <ModelPicker
          field
          value={null}
          label="Add a model"
          fallback={about.model}
          onChoose={(model) => model !== null && onChange([...models, model])}
        />
      )}
    </fieldset>
  );
}

const moved = (models: readonly string[], index: number): string[] =>
  models.toSpliced(index - 1, 2, ...models.slice(index - 1, index + 1).reverse());

type OfferedChoiceProps = {
  readonly what: 'tools' | 'skills';
  /** null: all */
  readonly chosen: readonly string[] | null;
  readonly offered: readonly { readonly name: string; readonly description: string }[];
  readonly onChoose: (chosen: readonly string[] | null) => void;
};

/** The tools or skills of an agent: all, or those that are selected. */
function OfferedChoice({ what, chosen, offered, onChoose }: OfferedChoiceProps) {
  // Tools of an MCP server that is not running, and skills of a project, stay selected.
  const missing = chosen?.filter((name) => !offered.some((one) => one.name === name)) ?? [];
  const shown = [...offered, ...missing.map((name) => ({ name, description: 'Not available now' }))];
  return (
    <>
      <Select
        label={what === 'tools' ? 'Tools' : 'Skills'}
        value={chosen === null ? 'all' : 'some'}
        options={[
          ['all', `All ${what}`],
          ['some', `Only selected ${what}`],
        ]}
        onChange={({ target }) => onChoose(target.value === 'some' ? [] : null)}
      />
      {chosen !== null && (
        <Checkboxes
          legend={`Selected ${what}`}
          options={shown.map(({ name, description }) => ({ id: name, name, title: description }))}
          chosen={chosen}
          onChoose={onChoose}
        />
      )}
    </>
  );
}

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
      ...identityIn(fields),
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
      <Select
        label="Default agent"
        value={fields.defaultAgent}
        options={agents.map(({ id, name }) => [id, name])}
        onChange={({ target }) => change({ defaultAgent: target.value })}
      />
      <Checkboxes
        legend="Agents"
        options={agents}
        chosen={fields.agents}
        onChoose={(agents) => change({ agents: [...agents] })}
      />
      <OutdatedNotice draft={draft} />
    </Dialog>
  );
}

type Identity = NameAndId & { readonly description: string };

const identityIn = ({ id, name, description }: Identity): Identity => ({
  id: id.trim(),
  name: name.trim(),
  description: description.trim(),
});

type IdentityFieldsProps = {
  readonly fields: Identity;
  /** its id is asked for */
  readonly isNew: boolean;
  /** ids that exist */
  readonly taken: readonly NameAndId[];
  readonly onChange: (changed: Partial<Identity>) => void;
};

const MAX_ID = 64;

/** Name, id and description of an agent or a domain. An id cannot be changed later; a new one follows the name until it is edited. */
function IdentityFields({ fields, isNew, taken, onChange }: IdentityFieldsProps) {
  const owner = taken.find(({ id }) => id === fields.id.trim())?.name;
  const rename = (name: string) =>
    onChange(isNew && fields.id === idFor(fields.name) ? { name, id: idFor(name) } : { name });
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={100}
        value={fields.name}
        onChange={({ target }) => rename(target.value)}
      />
      {isNew && (
        <Field
          label="Id"
          // Called on every render: the name may have changed the id, or another admin may have added it.
          ref={refuseTaken(owner)}
          required
          maxLength={MAX_ID}
          pattern="[A-Za-z0-9_\-]+"
          title="Letters, digits, - and _"
          value={fields.id}
          spellCheck={false}
          onChange={({ target }) => onChange({ id: target.value })}
        />
      )}
      <Field
        label="Description"
        maxLength={500}
        value={fields.description}
        onChange={({ target }) => onChange({ description: target.value })}
      />
    </>
  );
}

/** Empty if the name has neither Latin letters nor digits. */
const idFor = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_ID)
    .replace(/^-|-$/g, '');

// Stored agents and domains, and what a change makes of them.

export type StoredAgent = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly instructions: string;
  readonly model?: string;
  /** all by default */
  readonly tools?: readonly string[];
  /** all by default */
  readonly skills?: readonly string[];
  readonly starters?: readonly string[];
};

export type StoredDomain = About['domains'][number];

export type StoredCatalog = {
  readonly agents: readonly StoredAgent[];
  readonly domains: readonly StoredDomain[];
};

/** The server has checked them when they were stored. */
const storedIn = <Item,>(value: Json | undefined): Item[] =>
  Array.isArray(value) ? (value as unknown as Item[]) : [];

/** A built-in agent as it is stored once it is changed. */
const storedFrom = ({ model, tools, skills, ...agent }: AgentSetup['agents'][number]): StoredAgent => ({
  ...agent,
  model: model ?? undefined,
  tools: tools ?? undefined,
  skills: skills ?? undefined,
});

const replaced = <Item extends { readonly id: string }>(items: readonly Item[], item: Item): Item[] => [
  ...items.filter(({ id }) => id !== item.id),
  item,
];

/** The agent is offered in `domain`, in addition to where it was. A built-in domain is stored with the agent in it. */
export function withAgent(
  { agents, domains }: StoredCatalog,
  agent: StoredAgent,
  domain: StoredDomain | undefined,
): StoredCatalog {
  const next = replaced(agents, agent);
  if (!domain || domain.agents.includes(agent.id)) return { agents: next, domains };
  const { id, name, description, defaultAgent } = domain;
  const extended = { id, name, description, defaultAgent, agents: [...domain.agents, agent.id] };
  return { agents: next, domains: replaced(domains, extended) };
}

/** Domains that have no other agent are removed, too. */
export function withoutAgent({ agents, domains }: StoredCatalog, agent: string): StoredCatalog {
  return {
    agents: agents.filter(({ id }) => id !== agent),
    domains: domains.flatMap((domain) => {
      const left = domain.agents.filter((id) => id !== agent);
      const [first] = left;
      if (first === undefined) return [];
      return [
        {
          ...domain,
          agents: left,
          defaultAgent: domain.defaultAgent === agent ? first : domain.defaultAgent,
        },
      ];
    }),
  };
}

/** A built-in domain is stored with its changes. */
export const withDomain = (
  { agents, domains }: StoredCatalog,
  { id, name, description, defaultAgent, agents: listed }: StoredDomain,
): StoredCatalog => ({
  agents,
  domains: replaced(domains, { id, name, description, defaultAgent, agents: listed }),
});

export const withoutDomain = ({ agents, domains }: StoredCatalog, domain: string): StoredCatalog => ({
  agents,
  domains: domains.filter(({ id }) => id !== domain),
});

/** As settings; what is undefined is left out. */
const jsonOf = (catalog: StoredCatalog): JsonObject => JSON.parse(JSON.stringify(catalog));
