/** Response schemas of the REST endpoints. */
import { Permission, Role } from '@parlance/protocol';
import { z } from 'zod';
import { named } from '../shared/description.ts';
import { RUN_STATUSES } from './schemas.ts';

export const Me = named('Me', z.object({ sub: z.string(), role: Role, perms: z.array(Permission) }));

export const Domain = named(
  'Domain',
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    default_agent: z.string(),
    agents: z.array(z.string()),
  }),
);
export const Domains = z.array(Domain);
export const Agent = named(
  'Agent',
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    domain_id: z.string().nullable().describe('the requested domain, or the first one'),
    domain_ids: z.array(z.string()),
    tools: z.array(z.string()),
    version: z.string().describe('the version of the server'),
    state: z.literal('ready'),
  }),
);
export const Agents = z.array(Agent);
export const Tools = z.array(
  named(
    'Tool',
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      parameters: z.record(z.string(), z.json()).describe('a JSON Schema'),
      requires_approval: z.boolean(),
      allowed_roles: z.array(Role),
    }),
  ),
);

const Message = named(
  'Message',
  z.object({
    id: z.string(),
    conversation_id: z.string(),
    role: z.enum(['user', 'assistant']),
    content: z.string(),
    created_at: z.iso.datetime(),
    metadata: z.object({
      dialect: z.string().optional(),
      interrupted: z.boolean().optional(),
      imported: z.boolean().optional().describe('imported from elsewhere when the session was created'),
    }),
    agent_id: z.string().nullable(),
  }),
);
export const Messages = z.array(Message);

export const Conversation = named(
  'Conversation',
  z.object({
    id: z.string(),
    domain_id: z.string(),
    agent_id: z.string().describe('the current agent'),
    created_by_role: Role.nullable().describe('null if it belongs to another user'),
    created_by_sub: z.string(),
    title: z.string(),
    status: z.enum(['idle', 'running', 'waiting', 'failed']),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    metadata: z.object({ dialect: z.string(), active_agent: z.string() }),
    messages: z.array(Message),
  }),
);
export const Conversations = z.array(Conversation);

export const Detail = named('Detail', z.object({ detail: z.string() }));

const WORKFLOW_TYPES = [
  'workflow_step_start',
  'workflow_step_complete',
  'workflow_thought',
  'workflow_handoff',
] as const;
export const WorkflowLogs = z.array(
  named(
    'WorkflowLog',
    z.object({
      id: z.string(),
      conversation_id: z.string(),
      type: z.enum(WORKFLOW_TYPES),
      payload: z.record(z.string(), z.json()).describe('the payload of the frame'),
      created_at: z.iso.datetime(),
    }),
  ),
);

export const ToolRun = named(
  'ToolRun',
  z.object({
    id: z.string().describe('the requestId of its frames, if it is unique'),
    tool_id: z.string(),
    status: z.enum(RUN_STATUSES),
    requested_by: z.string(),
    parameters: z.record(z.string(), z.json()),
    result: z.record(z.string(), z.json()).nullable(),
    created_at: z.iso.datetime(),
    conversation_id: z.string(),
  }),
);
export const ToolRuns = z.array(ToolRun);

const HealthStatus = z.enum(['ok', 'unavailable']);
export const ServerHealth = named(
  'ServerHealth',
  z.object({ status: HealthStatus, timestamp: z.iso.datetime() }),
);
export const HealthDetails = named(
  'HealthDetails',
  z.object({
    status: HealthStatus,
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    timestamp: z.iso.datetime(),
    version: z.string(),
    uptime_seconds: z.int(),
    provider: z.string(),
    model: z.string(),
    sandbox: z.boolean(),
    listeners: z.array(z.object({ dialect: z.string(), port: z.int() })),
  }),
);
export const Figures = named(
  'Figures',
  z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])),
);
