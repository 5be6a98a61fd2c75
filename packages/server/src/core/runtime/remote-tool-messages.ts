/** Messages between nodes about calls that a client of another node executes. */
import { ConnectionId, FaultCode, PrincipalId } from '@parlance/protocol';
import { z } from 'zod';

export const REQUEST = 'tool.request';
export const PROGRESS = 'tool.progress';
export const ANSWER = 'tool.answer';

const Fields = z.record(z.string(), z.json());

const Run = z.object({
  id: z.string(),
  owner: PrincipalId,
  connection: ConnectionId,
  run: z.object({ id: z.string(), at: z.number() }),
  request: z.object({
    tool: z.string(),
    parameters: Fields,
    schema: Fields,
    permissions: z.array(z.string()),
    timeoutMs: z.number(),
    unavailable: z.string(),
  }),
});

/** Starts a call, or stops one. */
export const ToolRequest = z.union([Run, z.object({ stop: z.string() })]);
export type RequestedRun = z.infer<typeof Run>;

export const ToolProgress = z.object({
  id: z.string(),
  execution: z.string(),
  progress: z.object({
    status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
    progress: z.number().optional(),
    message: z.string().optional(),
  }),
});

export type ToolProgress = z.infer<typeof ToolProgress>;

export const ToolAnswer = z.union([
  z.object({ id: z.string(), result: z.json() }),
  z.object({
    id: z.string(),
    fault: z.object({ code: FaultCode, message: z.string() }),
    /** the client may have executed the call */
    unknown: z.boolean().optional(),
  }),
]);
export type ToolAnswer = z.infer<typeof ToolAnswer>;

/** A client's offer, as stored in its registry entry. */
export const Offer = z.object({
  tools: z.union([z.array(z.string()), z.literal('all')]),
  fallback: z.boolean(),
});
