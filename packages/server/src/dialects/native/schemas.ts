/** Requests of `native`. Commands have the schemas of the protocol. */
import { ApprovalAnswer, Role } from '@parlance/protocol';
import { z } from 'zod';

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().optional(),
});

export const SessionsQuery = PageQuery.extend({
  /** part of the title */
  q: z.string().trim().min(1).max(200).optional(),
  status: z.enum(['idle', 'running', 'waiting', 'failed']).optional(),
  domain: z.string().max(200).optional(),
  archived: z.enum(['included', 'only']).optional(),
  pinned: z.literal('only').optional(),
  /** sessions with this tag */
  tag: z.string().min(1).max(50).optional(),
  /** left out by default */
  ephemeral: z.enum(['included', 'only']).optional(),
});

export const ExportQuery = z.object({
  format: z.enum(['jsonl', 'markdown', 'html']).default('jsonl').describe('only `jsonl` can be imported'),
});

export const SearchQuery = z.object({
  q: z.string().trim().min(1).max(200).describe('words, or "words in quotes" in this order'),
  limit: z.coerce.number().int().min(1).max(50).default(20),
  cursor: z.string().max(100).optional(),
});

export const EventsQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

export const CommandHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('a command with the same key is executed once'),
});

export const Answer = z.object({
  answer: ApprovalAnswer,
  reason: z.string().max(10_000).optional(),
  hash: z.string().optional(),
});

/** The authenticator decides whether a password is acceptable; this only bounds its length. */
const Password = z.string().max(10_000);

export const NewUser = z.strictObject({ name: z.string().max(1_000), password: Password, role: Role });

export const UserChange = z
  .strictObject({ password: Password.optional(), role: Role.optional() })
  .refine(({ password, role }) => password !== undefined || role !== undefined, 'give a password or a role');

export const NewApiKey = z.strictObject({
  name: z.string().max(1_000),
  role: Role.optional().describe('the most that the key grants; default: the caller’s role'),
  dialects: z.array(z.string().max(100)).max(100).optional().describe('default: all'),
  administration: z
    .boolean()
    .optional()
    .describe('lets it manage users, passwords, origins and MCP servers, which otherwise needs a login'),
  expiresAt: z.iso.datetime({ offset: true }).optional().describe('default: never'),
});

export const NewPairing = z.strictObject({
  name: z.string().max(1_000).describe('the name shown to the user who approves the pairing'),
});

const Code = z.string().min(1).max(100).describe('as the extension shows it; case and hyphens do not matter');

export const PairingCode = z.strictObject({ code: Code });

export const PairingAnswer = z.strictObject({ code: Code, allow: z.boolean() });

export const NewPassword = z.strictObject({ old: Password, new: Password });

export const SetupChange = z.strictObject({
  version: z.int().min(0).describe('the version that the change is based on'),
  values: z.record(z.string().max(100), z.json()).describe('by setting; null removes the stored value'),
});

export const VendorQuestion = z.strictObject({
  provider: z.string().max(100).describe('a model API, as in the setting `provider`'),
  address: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe('default: the one in use'),
  key: z
    .string()
    .min(1)
    .max(2_000)
    .regex(/^[\x21-\x7e]+$/, 'must not contain spaces')
    .optional()
    .describe('default: the one in use, if the address is'),
});
