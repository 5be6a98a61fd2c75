/** Stored agents and domains, and what a change makes of them. */
import type { Json, JsonObject } from '@parlance/protocol';
import type { AgentSetup } from '@parlance/sdk';

export type StoredAgent = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly instructions: string;
  readonly model?: string;
  /** all by default */
  readonly tools?: readonly string[];
  readonly starters?: readonly string[];
};

export type StoredDomain = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly defaultAgent: string;
  readonly agents: readonly string[];
};

export type StoredCatalog = {
  readonly agents: readonly StoredAgent[];
  readonly domains: readonly StoredDomain[];
};

/** The server has checked them when they were stored. */
export const storedAgents = (value: Json | undefined): StoredAgent[] =>
  Array.isArray(value) ? (value as unknown as StoredAgent[]) : [];
export const storedDomains = (value: Json | undefined): StoredDomain[] =>
  Array.isArray(value) ? (value as unknown as StoredDomain[]) : [];

/** A built-in agent as it is stored once it is changed. */
export const storedFrom = ({ model, tools, ...agent }: AgentSetup['agents'][number]): StoredAgent => ({
  ...agent,
  model: model ?? undefined,
  tools: tools ?? undefined,
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
export const jsonOf = (catalog: StoredCatalog): JsonObject => JSON.parse(JSON.stringify(catalog));
