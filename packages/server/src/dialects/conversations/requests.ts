/** Schemas of client frames, and the errors for invalid ones. */
import { ApprovalId, DirectCall, Fault, jsonNestsDeeper } from '@parlance/protocol';
import { z } from 'zod';

/** All types of client frames. */
export const KNOWN_TYPES = [
  'PING',
  'start_conversation',
  'send_message',
  'cancel_stream',
  'approve_tool',
] as const;
export type KnownType = (typeof KNOWN_TYPES)[number];

export const isKnown = (type: string): type is KnownType => KNOWN_TYPES.some((known) => known === type);

const Name = z.string().min(1);

export const StartConversation = z.object({ payload: z.object({ domainId: Name }) });

export const SendMessage = z.object({
  conversationId: Name,
  payload: z.object({ content: z.string().trim().min(1) }),
});

export const CancelStream = z.object({ conversationId: Name });

/** The request id alone selects the approval; a `conversationId` is ignored. */
export const ApproveTool = z.object({
  requestId: ApprovalId,
  payload: z.object({ approved: z.boolean(), reason: z.string().trim().max(10_000).nullish() }),
});

/** Throws `invalid` with this message. */
export function read<Schema extends z.ZodType>(
  schema: Schema,
  frame: Record<string, unknown>,
  otherwise: string,
): z.output<Schema> {
  const parsed = schema.safeParse(frame);
  if (!parsed.success) throw new Fault('invalid', otherwise);
  return parsed.data;
}

/** `/tool <id> <JSON object>`; undefined if the message is something else. Throws `tool_invalid`. */
export function directCall(content: string): DirectCall | undefined {
  if (!/^\/tool(?:\s|$)/.test(content)) return undefined;
  const [, tool, input] = /^\/tool\s+(\S+)\s+(\{[\s\S]*\})$/.exec(content) ?? [];
  if (!tool || !input) throw new Fault('tool_invalid', 'Call a tool with /tool <id> <JSON object>');
  if (jsonNestsDeeper(input, MAX_LEVELS))
    throw new Fault('tool_invalid', 'The parameters are nested too deeply');
  const parameters = parsedJson(input);
  const parsed = DirectCall.safeParse({ tool, input: parameters });
  if (!parsed.success) throw new Fault('tool_invalid', `The parameters of ${tool} are not a JSON object`);
  return parsed.data;
}

const MAX_LEVELS = 100;

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Fault('tool_invalid', 'The parameters are not valid JSON', { cause });
  }
}
