/** The objects of the REST endpoints. */
import { type Principal, ROLE_PERMISSIONS, Role } from '@parlance/protocol';
import type { Agent, Domain, Engine, SessionRecord } from '../../core/index.ts';
import type { DialectContext } from '../kit/dialect.ts';
import type { Message } from './messages.ts';

export const domainObject = ({ id, name, description, defaultAgent, agents }: Domain) => ({
  id,
  name,
  description,
  default_agent: defaultAgent,
  agents,
});

/** `domain` is the requested one. Agents have the start time of the server and are always ready. */
export function agentObject(agent: Agent, { engine, about }: Catalog, domain?: string) {
  const { id, name, description, tools } = agent;
  const domains = engine.catalog.listed.domains
    .filter(({ agents }) => agents.includes(id))
    .map((one) => one.id);
  const offered = engine.toolSpecs().map((tool) => tool.name);
  return {
    id,
    name,
    description,
    domain_id: domain ?? domains[0] ?? null,
    domain_ids: domains,
    tools: tools ? offered.filter((tool) => tools.includes(tool)) : offered,
    version: about.version,
    state: 'ready' as const,
  };
}

type Catalog = Pick<DialectContext, 'engine' | 'about'>;
type ListedTool = ReturnType<Engine['toolSpecs']>[number];

export const toolObject = ({ name, description, parameters, requiresApproval }: ListedTool) => ({
  id: name,
  name,
  description,
  parameters,
  requires_approval: requiresApproval,
  allowed_roles: Role.options.filter((role) => ROLE_PERMISSIONS[role].includes('tool:request')),
});

/** The role of another owner is not stored with the conversation, so it is null. */
export const conversationObject = (
  { ref, domain, dialect, agent, title, status, createdAt, updatedAt }: SessionRecord,
  principal: Principal,
  messages: Message[],
) => ({
  id: ref.id,
  domain_id: domain,
  agent_id: agent,
  created_by_role: ref.owner === principal.id ? principal.role : null,
  created_by_sub: ref.owner,
  title,
  status,
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt).toISOString(),
  metadata: { dialect, active_agent: agent },
  messages,
});

/** `uptime_seconds` is that of the process. */
export async function healthObject({
  about,
  now,
  problem,
}: Pick<DialectContext, 'about' | 'now' | 'problem'>) {
  const unready = await problem();
  return {
    status: unready === null ? ('ok' as const) : ('unavailable' as const),
    reason: unready?.reason ?? null,
    detail: unready?.detail ?? null,
    timestamp: new Date(now()).toISOString(),
    version: about.version,
    uptime_seconds: Math.floor(process.uptime()),
    provider: about.provider,
    model: about.model,
    sandbox: about.sandbox,
    listeners: about.listeners().map(({ dialect, port }) => ({ dialect, port })),
  };
}
