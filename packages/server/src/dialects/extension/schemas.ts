/** Schemas of client frames. Fields that are not listed are not read. */
import { Fault, isObject, type Json, SessionId } from '@parlance/protocol';
import { z } from 'zod';

/** Existing clients leave out ids and times, and send null for missing values. */
const HEAD = { id: z.string().nullish(), timestamp: z.number().nullish() };

const SessionName = z.preprocess(
  (value) => (value === null || value === '' ? undefined : value),
  SessionId.optional(),
);

export const Ping = z.object(HEAD);

export const ClientRegistration = z.object({
  ...HEAD,
  clientType: z.string().max(100).nullish(),
  capabilities: z.array(z.string().max(100)).max(50),
  userAgent: z.string().max(500).nullish(),
  metadata: z
    .unknown()
    .superRefine((value, context) => {
      const message = metadataProblem(value ?? {});
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .optional(),
  sessionToken: z.string().nullish(),
  userId: z.string().nullish(),
});

export const ChatMessage = z.object({ ...HEAD, content: z.string(), sessionId: SessionName });

export const ClearConversation = z.object({ ...HEAD, sessionId: SessionName });

export const ToolExecutionResponse = z.object({
  id: z.string(),
  timestamp: z.number(),
  executionId: z.string(),
  success: z.boolean(),
  executionTime: z.number().min(0),
  result: z.custom<Json>((value) => !deeperThan(MAX_DEPTH, value), 'is nested too deeply').optional(),
  error: z
    .object({
      type: z.enum(['validation', 'permission', 'timeout', 'browser_api', 'network', 'unknown']),
      message: z.string(),
      recoverable: z.boolean(),
      retryAfter: z.number().min(0).nullish(),
    })
    .nullish(),
});

export type ToolExecutionResponse = z.infer<typeof ToolExecutionResponse>;

export const ToolExecutionStatus = z.object({
  ...HEAD,
  executionId: z.string(),
  status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
  progress: z.number().min(0).max(100).nullish(),
  statusMessage: z.string().max(10_000).nullish(),
});

/** The body of `/api/summarize`. */
export const SummaryRequest = z.looseObject(
  {
    content: z.string('Content is required').regex(/\S/, 'Content is required'),
    title: z.string('Title must be a string').nullish(),
  },
  'Content is required',
);

/** All types of client frames. */
export const KNOWN_TYPES = [
  'client_registration',
  'ping',
  'chat_message',
  'clear_conversation',
  'tool_execution_response',
  'tool_execution_status',
] as const;

const TYPE_LENGTH = 100;

export type TypedFrame = { readonly type: string };
export type KnownFrame = { readonly type: (typeof KNOWN_TYPES)[number] };

export const isKnown = (frame: TypedFrame): frame is KnownFrame =>
  KNOWN_TYPES.some((type) => type === frame.type);

/** Throws `invalid` if a frame has no valid type. */
export function typed(frame: unknown): TypedFrame {
  if (!isObject(frame)) throw new Fault('invalid', 'message: must be a JSON object');
  const { type } = frame;
  if (typeof type !== 'string') throw new Fault('invalid', 'type: must be a string');
  if (type.length >= TYPE_LENGTH)
    throw new Fault('invalid', `type: must be shorter than ${TYPE_LENGTH} characters`);
  return { ...frame, type };
}

/** Throws `invalid` with the name of the field first. */
export function read<Schema extends z.ZodType>(schema: Schema, frame: object): z.output<Schema> {
  const parsed = schema.safeParse(frame);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'message'}: ${issue?.message}`);
}

const METADATA_LIMIT = 10_000;
const FORBIDDEN_KEYS = ['__proto__', 'constructor', 'prototype'];
/** Deeper values could be stored but not read again: schemas and JSON.stringify are recursive. */
const MAX_DEPTH = 100;

function metadataProblem(metadata: unknown): string | null {
  if (!isObject(metadata)) return 'must be a plain object';
  if (deeperThan(MAX_DEPTH, metadata)) return 'is nested too deeply';
  if (JSON.stringify(metadata).length > METADATA_LIMIT)
    return `must have at most ${METADATA_LIMIT} characters of JSON`;
  return hasForbiddenKey(metadata) ? `must not have the keys ${FORBIDDEN_KEYS.join(', ')}` : null;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

const deeperThan = (levels: number, value: unknown): boolean =>
  isNested(value) &&
  (levels === 0 || Object.values(value).some((inner: unknown) => deeperThan(levels - 1, inner)));

const hasForbiddenKey = (value: unknown): boolean =>
  isNested(value) &&
  (FORBIDDEN_KEYS.some((key) => Object.hasOwn(value, key)) || Object.values(value).some(hasForbiddenKey));
