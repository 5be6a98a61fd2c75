/** Request schemas of the REST endpoints. */
import { z } from 'zod';

export const MAX_MESSAGES = 1_000;

/** The states of a tool call. */
export const RUN_STATUSES = [
  'pending',
  'pending_approval',
  'approved',
  'running',
  'completed',
  'failed',
  'rejected',
  'cancelled',
  'unknown',
] as const;

export const Credentials = z.object({
  username: z.string().min(1).max(1_000),
  password: z.string().min(1).max(1_000),
});

export const NewConversation = z.object({
  domain_id: z.string().min(1),
  agent_id: z.string().min(1).nullish(),
});

const upTo = (max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(max));

/** An empty parameter counts as absent. */
const filled = z
  .string()
  .transform((text) => text || undefined)
  .optional();

export const ListQuery = z.object({ limit: upTo(100).default(20), cursor: filled, domain_id: filled });
export const AgentsQuery = z.object({ domain_id: filled });
export const ToolRunsQuery = z.object({ limit: upTo(100).default(20) });
export const WorkflowLogsQuery = z.object({ limit: upTo(MAX_MESSAGES).default(100) });
export const MessagesQuery = z.object({ limit: upTo(MAX_MESSAGES).default(100) });
