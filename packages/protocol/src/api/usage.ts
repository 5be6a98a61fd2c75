/** Prices, what model calls have used, and limits. */
import { z } from 'zod';
import { LimitUse } from '../spend.ts';

const Dollars = z.number().min(0).max(1_000_000);

/** US dollars per million tokens. */
export const SetPrice = z.object({ input: Dollars, output: Dollars, cached: Dollars.optional() });

export const Price = SetPrice.extend({
  catalogue: z
    .string()
    .optional()
    .describe('date of the catalogue that the price is of; absent if an admin has set it'),
});
export type Price = z.infer<typeof Price>;

export const NewPrice = z.strictObject({
  model: z.string().trim().min(1).max(200),
  price: SetPrice.nullable().describe('US dollars per million tokens; null removes it'),
});
export type NewPrice = z.input<typeof NewPrice>;

const USAGE_LABELS = z.enum(['day', 'user', 'agent', 'model', 'key', 'task']);

export type UsageLabel = z.infer<typeof USAGE_LABELS>;

const Day = z.iso.date();

export const UsageQuery = z.object({
  /** first day, in UTC; default: the first of this month */
  from: Day.optional(),
  /** last day; default: today */
  to: Day.optional(),
  /** labels of a row, separated by commas; default: one row for everything */
  by: z
    .string()
    .max(100)
    .default('')
    .transform((text) => [...new Set(text.split(',').filter((name) => name !== ''))])
    .pipe(z.array(USAGE_LABELS)),
  /** only of this user; users see their own */
  user: z.string().min(1).max(200).optional(),
  agent: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(200).optional(),
  /** id of an API key */
  key: z.string().min(1).max(200).optional(),
  task: z.string().min(1).max(50).optional(),
  limit: z.coerce.number<number | undefined>().int().min(1).max(10_000).default(1_000),
  format: z.enum(['json', 'csv']).default('json'),
});
export type UsageQuery = z.input<typeof UsageQuery>;

/** What model calls have used. */
export const UsageRow = z.object({
  day: z.string().optional().describe('in UTC'),
  user: z.string().optional(),
  agent: z.string().optional(),
  model: z.string().optional(),
  key: z.string().optional().describe('id of the API key; empty without one'),
  task: z
    .string()
    .optional()
    .describe('why the model was called: chat, title, compaction, explanation, summary, sampling'),
  calls: z.number(),
  inputTokens: z.number(),
  cachedTokens: z.number().describe("of these, read from the vendor's cache"),
  outputTokens: z.number(),
  reasoningTokens: z.number().describe('of these'),
  dollars: z.number().describe('at the prices of the time of each call'),
  unpricedCalls: z.number().describe('calls of models without a price, which cost nothing here'),
  estimatedCalls: z.number().describe('answers that were broken off: by estimate, not counted by the vendor'),
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsageReport = z.object({
  from: z.string(),
  to: z.string(),
  rows: z.array(UsageRow),
  more: z.boolean().describe('there are more rows than `limit`'),
});
export type UsageReport = z.infer<typeof UsageReport>;

export const LimitUses = z.object({
  limits: z.array(LimitUse.extend({ text: z.string().describe('in words') })),
});
export type LimitUses = z.infer<typeof LimitUses>;

export const Prices = z.object({
  prices: z
    .record(z.string(), Price)
    .describe('by the name of the model; those of the catalogue also by `VENDOR:NAME`'),
});
export type Prices = z.infer<typeof Prices>;
