/** The parameters of the methods. Unknown fields are ignored, including `_meta`. */
import { ApprovalMode } from '@parlance/protocol';
import { z } from 'zod';

const sessionId = z.string().min(1).max(200);
const cwd = z
  .string()
  .max(4_096)
  .refine((path) => path.startsWith('/'), { message: 'must be an absolute path' });
/** MCP servers of the client are not started. */
const mcpServers = z.array(z.unknown()).max(1_000).optional();

const Text = z.object({ type: z.literal('text'), text: z.string() });
const Image = z.object({ type: z.literal('image'), mimeType: z.string().max(200), data: z.base64() });
const Link = z.object({ type: z.literal('resource_link'), name: z.string(), uri: z.string() });
const Resource = z.object({
  type: z.literal('resource'),
  resource: z.union([
    z.object({ uri: z.string(), text: z.string() }),
    z.object({ uri: z.string(), blob: z.base64(), mimeType: z.string().nullish() }),
  ]),
});

export const Block = z.discriminatedUnion('type', [Text, Image, Link, Resource]);
export type Block = z.output<typeof Block>;

export const Initialize = z.object({ protocolVersion: z.number().int() });
export const NewSession = z.object({ cwd, mcpServers });
/** A session keeps the folder it was created in. */
export const OpenSession = z.object({
  sessionId,
  cwd,
  mcpServers,
  _meta: z.object({ 'parlance/resume': z.unknown() }).partial().nullish(),
});
/** The position of a client that reconnects. */
export const Position = z.object({
  /** the last event that the client has received */
  after: z.number().int().min(0),
  /** the keys of its own prompts: their text is not repeated */
  keys: z.array(z.string().max(200)).max(1_000),
});
export const ListSessions = z.object({
  cwd: z.string().max(4_096).nullish(),
  cursor: z.string().max(1_000).nullish(),
});
export const OneSession = z.object({ sessionId });
export const SetMode = z.object({ sessionId, modeId: ApprovalMode });
export const Prompt = z.object({
  sessionId,
  prompt: z.array(Block).min(1, 'must have at least one block').max(100),
  /** repeated prompts with the same key are one prompt */
  _meta: z
    .object({ 'parlance/key': z.string().min(1).max(200) })
    .partial()
    .nullish(),
});
export const CancelRequest = z.object({ requestId: z.union([z.string(), z.number(), z.null()]) });

export const PermissionResult = z.object({
  outcome: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
    z.object({ outcome: z.literal('cancelled') }),
  ]),
});
