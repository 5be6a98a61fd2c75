/** The parameters of the methods. Unknown fields are ignored. */
import { JsonValue } from '@parlance/protocol';
import { z } from 'zod';
import { TASK_STATES } from './objects.ts';

/** An empty string means absent in this encoding. */
const Id = z
  .string()
  .max(200)
  .transform((id) => (id === '' ? undefined : id))
  .optional();

const Metadata = z.record(z.string(), JsonValue).nullish();

export const SentPart = z
  .object({
    text: z.string().optional(),
    data: JsonValue.optional(),
    url: z.string().min(1).max(10_000).optional(),
    raw: z
      .string()
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'is not base64')
      .refine((raw) => raw.length % 4 === 0, 'is not base64')
      .optional(),
    mediaType: z.string().max(200).optional(),
    filename: z.string().max(1_000).optional(),
  })
  .refine(
    (part) => [part.text, part.data, part.url, part.raw].filter((value) => value !== undefined).length === 1,
    'has exactly one of text, data, url and raw',
  );
export type SentPart = z.output<typeof SentPart>;

export const SentMessage = z.object({
  messageId: z.string().min(1).max(200),
  contextId: Id,
  taskId: Id,
  role: z.literal('ROLE_USER', 'must be ROLE_USER').default('ROLE_USER'),
  parts: z.array(SentPart).min(1).max(100),
  metadata: Metadata,
});
export type SentMessage = z.output<typeof SentMessage>;

const HistoryLength = z.int().min(0).optional();

export const SendParams = z.object({
  message: SentMessage,
  configuration: z
    .object({
      historyLength: HistoryLength,
      returnImmediately: z.boolean().default(false),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .prefault({}),
  metadata: Metadata,
});
export type SendParams = z.output<typeof SendParams>;

const TaskId = z.string().min(1).max(200);

export const GetParams = z.object({ id: TaskId, historyLength: HistoryLength });

export const TaskParams = z.object({ id: TaskId });

export const ListParams = z.object({
  contextId: Id,
  status: z
    .enum(['TASK_STATE_UNSPECIFIED', ...TASK_STATES, 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED'])
    .optional(),
  pageSize: z.int().min(1).max(100).default(50),
  pageToken: z.string().max(1_000).default(''),
  historyLength: HistoryLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z.boolean().default(false),
});
export type ListParams = z.output<typeof ListParams>;

/** The data part that answers an approval. */
export const ApprovalPart = z.object({
  approval: z.string().min(1).max(200),
  answer: z.enum(['once', 'always', 'deny']),
  reason: z.string().max(10_000).optional(),
});
