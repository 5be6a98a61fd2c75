/** The objects of the REST side. */
import { type Principal, ROLE_PERMISSIONS, Role } from '@parlance/protocol';
import type { Agent, Domain, Engine, SessionRecord } from '../../core/engine.ts';
import type { Message } from './messages.ts';

export const domainObject = ({ id, name, description, defaultAgent, agents }: Domain) => ({
  id,
  name,
  description,
  default_agent: defaultAgent,
  agents,
});

/** Every agent is offered every tool. */
export const agentObject = ({ id, name, description }: Agent, engine: Engine) => ({
  id,
  name,
  description,
  domain_ids: engine.roster.domains.filter((domain) => domain.agents.includes(id)).map((domain) => domain.id),
  tools: engine.toolSpecs().map((tool) => tool.name),
});

type ListedTool = ReturnType<Engine['toolSpecs']>[number];

export const toolObject = ({ name, description, parameters, requiresApproval }: ListedTool) => ({
  id: name,
  name,
  description,
  parameters,
  requires_approval: requiresApproval,
  allowed_roles: Role.options.filter((role) => ROLE_PERMISSIONS[role].includes('tool:request')),
});

/** The role of another owner is not kept with the conversation, so it is null there. */
export const conversationObject = (
  { ref, domain, dialect, agent, title, status, createdAt, updatedAt }: SessionRecord,
  principal: Principal,
  messages: Message[],
) => ({
  id: ref.id,
  domain_id: domain,
  created_by_role: ref.owner === principal.id ? principal.role : null,
  created_by_sub: ref.owner,
  title,
  status,
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt).toISOString(),
  metadata: { dialect, active_agent: agent },
  messages,
});
