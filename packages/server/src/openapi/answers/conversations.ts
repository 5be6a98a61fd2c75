/** What the REST side of `conversations` answers. */
import { Permission, Role } from '@parlance/protocol';
import { z } from 'zod';
import { named } from '../endpoint.ts';

export const Token = named(
  'Token',
  z.object({ access_token: z.string(), token_type: z.literal('bearer'), role: Role }),
);
export const Me = named('Me', z.object({ sub: z.string(), role: Role, perms: z.array(Permission) }));

export const Domains = z.array(
  named(
    'Domain',
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      default_agent: z.string(),
      agents: z.array(z.string()),
    }),
  ),
);
export const Agents = z.array(
  named(
    'Agent',
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      domain_ids: z.array(z.string()),
      tools: z.array(z.string()),
    }),
  ),
);
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
    metadata: z.object({ dialect: z.string().optional(), interrupted: z.boolean().optional() }),
    agent_id: z.string().nullable(),
  }),
);
export const Messages = z.array(Message);

export const Conversation = named(
  'Conversation',
  z.object({
    id: z.string(),
    domain_id: z.string(),
    created_by_role: Role.nullable().describe('null where it is someone else’s'),
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
