/** Domains and their agents, looked up by id. */
import { type AgentRef, Fault } from '@parlance/protocol';
import type { ApprovalMode } from './approvals.ts';

export type Agent = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** overrides the server's model */
  readonly model?: string;
  readonly approval?: ApprovalMode;
  /** overrides the server's maximum number of parallel calls per answer */
  readonly parallelCalls?: number;
  /** names of the tools it is offered; all by default */
  readonly tools?: readonly string[];
  /** names of the skills it is offered; all by default */
  readonly skills?: readonly string[];
  /** first messages that clients offer */
  readonly starters?: readonly string[];
};

export type Domain = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly defaultAgent: string;
  readonly agents: readonly string[];
  /** hidden from lists */
  readonly hidden?: boolean;
};

export type CatalogContent = { readonly domains: readonly Domain[]; readonly agents: readonly Agent[] };

/** Agents that a sub-agent can be, and a session cannot. The operator's agents of the same id replace them. */
export const ROLES: readonly Agent[] = [
  {
    id: 'explore',
    name: 'Explore',
    description: 'Finds things out with tools that only read.',
    instructions:
      'You are a sub-agent: another agent reads your answer, not a person. Find out what you were asked with few, well chosen calls. Answer with findings, with paths and lines, and say what you did not find.',
    tools: ['read_file', 'list_files', 'search_files', 'fetch_page', 'web_search'],
  },
  {
    id: 'worker',
    name: 'Worker',
    description: 'Does a part of the work with all tools.',
    instructions:
      'You are a sub-agent: another agent reads your answer, not a person. Do the task that you were given and nothing else. Answer with what you did, what you checked, and what is left.',
  },
];

export class AgentCatalog {
  #content: CatalogContent;

  constructor(
    domains: readonly Domain[],
    agents: readonly Agent[],
    readonly defaultDomain: string,
  ) {
    this.#content = { domains, agents };
  }

  get domains(): readonly Domain[] {
    return this.#content.domains;
  }

  get agents(): readonly Agent[] {
    return this.#content.agents;
  }

  /** Replaces the content, also for running turns. */
  replace({ domains, agents }: CatalogContent): void {
    this.#content = { domains, agents };
  }

  /** The domains and agents to show in lists. */
  get listed(): CatalogContent {
    const domains = this.domains.filter((domain) => !domain.hidden);
    const hidden = new Set(this.domains.filter((domain) => domain.hidden).flatMap((domain) => domain.agents));
    return { domains, agents: this.agents.filter((agent) => !hidden.has(agent.id)) };
  }

  domain(id: string): Domain {
    const found = this.domains.find((domain) => domain.id === id);
    if (!found) throw new Fault('not_found', 'Unknown domainId');
    return found;
  }

  agent(id: string): Agent {
    const found = this.agents.find((agent) => agent.id === id) ?? ROLES.find((role) => role.id === id);
    if (!found) throw new Fault('not_found', `Unknown agent: ${id}`);
    return found;
  }

  /**
   * The agent that starts a session in the domain: the given one if it is listed in any domain, else the
   * domain's default.
   */
  first(domain: string, agent?: string): AgentRef {
    const { defaultAgent, agents } = this.domain(domain);
    if (agent !== undefined && !agents.includes(agent) && !this.listed.agents.some(({ id }) => id === agent))
      throw new Fault('not_found', `Unknown agent: ${agent}`);
    const { id, name } = this.agent(agent ?? defaultAgent);
    return { id, name };
  }
}
