import { Permission, Role } from '@parlance/protocol';
import { Token } from '@parlance/protocol/api';
import { z } from 'zod';
import { type Description, named } from '../kit/description.ts';
import { inbound, outbound } from './contract.ts';
import { Credentials, NewConversation, RUN_STATUSES } from './schemas.ts';

// Schemas of the REST endpoints.

named('Credentials', Credentials);
named('NewConversation', NewConversation);

const Me = named('Me', z.object({ sub: z.string(), role: Role, perms: z.array(Permission) }));

const Domain = named(
  'Domain',
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    default_agent: z.string(),
    agents: z.array(z.string()),
  }),
);
const Domains = z.array(Domain);
const Agent = named(
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
const Agents = z.array(Agent);
const Tools = z.array(
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
const Messages = z.array(Message);

const Conversation = named(
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
const Conversations = z.array(Conversation);

const Detail = named('Detail', z.object({ detail: z.string() }));

const WORKFLOW_TYPES = [
  'workflow_step_start',
  'workflow_step_complete',
  'workflow_thought',
  'workflow_handoff',
] as const;
const WorkflowLogs = z.array(
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

const ToolRun = named(
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
const ToolRuns = z.array(ToolRun);

const HealthStatus = z.enum(['ok', 'unavailable']);
const ServerHealth = named('ServerHealth', z.object({ status: HealthStatus, timestamp: z.iso.datetime() }));
const HealthDetails = named(
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
const Figures = named(
  'Figures',
  z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])),
);

export const schemas = {
  Agent,
  Agents,
  Conversation,
  Conversations,
  Domain,
  Domains,
  Figures,
  HealthDetails,
  Me,
  Messages,
  ServerHealth,
  Token,
  ToolRun,
  ToolRuns,
  Tools,
  WorkflowLogs,
};

const error = (description: string) => ({ description, schema: Detail });

export const description: Description = {
  title: 'Conversations',
  summary: 'Chat applications with logins, domains and agents: REST, and a WebSocket for the conversation.',
  note: 'Always needs a token, even in open mode.',
  needsToken: true,
  socket: {
    nameField: 'type',
  },
  messages: { in: inbound(), out: outbound() },
  schemas,
  errors: {
    401: error('Missing or invalid token, or wrong password'),
    403: error('The role lacks the permission'),
    404: error('Not found, or it belongs to another user'),
    422: error('Invalid request; the text names the field'),
    429: error('Too many failed logins; Retry-After is in seconds'),
  },
};
