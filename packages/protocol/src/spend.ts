/** What model calls use, and the limits on it. Money is counted in millionths of a US dollar, so that sums are exact. */
import { z } from 'zod';

/** Why a model was called. `chat`: a step of a turn. */
export const ModelTask = z.enum(['chat', 'title', 'compaction', 'explanation', 'summary', 'sampling']);
export type ModelTask = z.infer<typeof ModelTask>;

const Tokens = z.int().min(0).max(1e15);
/** Millionths of a US dollar. */
export const Cost = z.int().min(0).max(1e15);

/** At least one of both. 0: nothing at all. */
export const Amount = z.strictObject({
  /** US dollars; calls of models without a price are not counted */
  dollars: z.number().min(0).max(1e9).optional(),
  /** input and output */
  tokens: Tokens.optional(),
});
export type Amount = z.infer<typeof Amount>;

/** What is counted: one turn or session, or all sessions of an agent, an API key or a user. */
export const LimitScope = z.enum(['turn', 'session', 'agent', 'key', 'user']);
export type LimitScope = z.infer<typeof LimitScope>;

/** Calendar days and months, in UTC. */
export const LimitPeriod = z.enum(['day', 'month']);
export type LimitPeriod = z.infer<typeof LimitPeriod>;

/** A limit of the operator. */
export const SpendLimit = Amount.extend({
  per: LimitScope,
  /** the agent, API key or user that it is for, instead of the limit for each of them */
  of: z.string().min(1).max(200).optional(),
  /** for agents, API keys and users */
  in: LimitPeriod.optional(),
})
  .refine(({ dollars, tokens }) => dollars !== undefined || tokens !== undefined, 'needs dollars or tokens')
  .refine(
    ({ per, in: period }) => (per === 'turn' || per === 'session') === (period === undefined),
    'needs "in": "day" or "month" for an agent, a key or a user, and only for these',
  )
  .refine(
    ({ per, of }) => of === undefined || (per !== 'turn' && per !== 'session'),
    'cannot have "of" for a turn or a session',
  );
export type SpendLimit = z.infer<typeof SpendLimit>;

/** A limit in one unit, and how much of it is used. */
export const LimitUse = z.object({
  per: LimitScope,
  /** the agent, API key or user */
  of: z.string().optional(),
  in: LimitPeriod.optional(),
  /** set by the owner of the session: the turn asks before it goes on */
  soft: z.literal(true).optional(),
  unit: z.enum(['dollars', 'tokens']),
  max: z.number(),
  used: z.number(),
});
export type LimitUse = z.infer<typeof LimitUse>;

/** The sum of several calls. */
export const Spent = z.object({
  tokens: Tokens,
  cost: Cost,
});
export type Spent = z.infer<typeof Spent>;
