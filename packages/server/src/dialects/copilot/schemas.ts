/** Requests to the endpoints for sessions and accounts. Unknown keys are ignored. */
import { z } from 'zod';
import { addressOf } from './root-domain.ts';

/** An empty parameter counts as absent. */
const filled = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);
const upTo = (max: number, otherwise: number) =>
  filled(wholeNumber.pipe(z.number().min(1).max(max)).default(otherwise));

/** Any version and variant: clients generate these ids. */
export const Uuid = z.guid('must be a UUID');

export const SessionPath = z.object({ sessionId: Uuid });

const instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be a time in ISO 8601')
  .transform((text) => Date.parse(text));

export const MessagesQuery = z.object({ limit: upTo(200, 50), since: filled(instant.optional()) });

export const CopilotSessionStatus = z.enum(['active', 'completed', 'failed', 'interrupted', 'archived']);
export type CopilotSessionStatus = z.infer<typeof CopilotSessionStatus>;

export const StatusQuery = z.object({ status: filled(CopilotSessionStatus.optional()) });

export const ListQuery = StatusQuery.extend({
  includeArchived: filled(z.enum(['true', 'false', '1', '0']).optional()).transform(
    (text) => text === 'true' || text === '1',
  ),
  limit: upTo(100, 20),
  offset: filled(wholeNumber.default(0)),
});

export const ArchiveBody = z.object({ sessionId: Uuid });

export const InitBody = z.object({
  sessionId: Uuid,
  url: z.url().max(100_000).nullish(),
  title: z.string().trim().min(1).max(500).nullish(),
});

export const RenameBody = z.object({ title: z.string().trim().min(1).max(500) });

export const DomainPath = z.object({
  domain: z
    .string()
    .regex(/^[a-z0-9_]([a-z0-9_-]*)(\.[a-z0-9_-]+)*(:\d{1,5})?$/i, 'must be a domain')
    .max(255),
});

export const ActiveTaskQuery = z.object({ url: filled(z.string().max(100_000).optional()) });

export const LoginBody = z.object({
  email: z.string().min(1).max(1_000),
  password: z.string().min(1).max(1_000),
});

export const Preferences = z.object({ theme: z.enum(['light', 'dark', 'system']) });

export type Preferences = z.infer<typeof Preferences>;

export const KnowledgeQuery = z.object({
  url: z
    .string()
    .max(100_000)
    .refine((text) => addressOf(text) !== null, 'must be a URL or a host name')
    .describe('A URL, or a bare host name such as `shop.example`.'),
  query: z.string().max(10_000).optional(),
});
