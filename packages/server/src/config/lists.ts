/** Settings that are lists of objects, available only in the config file. */
import { z } from 'zod';

const Name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 letters, digits, - and _');
const Approval = z.enum(['suggest', 'auto-edit', 'full-auto']);

/** `pattern` may contain `*` for any text; the strictest matching rule wins. */
export const rules = () =>
  z.array(
    z.strictObject({
      tool: z.string().min(1),
      pattern: z.string().default('*'),
      decision: z.enum(['allow', 'ask', 'deny']),
    }),
    'must be a list of {tool, pattern, decision}',
  );

export const agents = () =>
  z.array(
    z.strictObject({
      id: Name,
      name: z.string().min(1),
      description: z.string().default(''),
      instructions: z.string(),
      model: z.string().min(1).optional(),
      approval: Approval.optional(),
      parallelCalls: z.int().min(1).max(100).optional(),
      tools: z.array(z.string()).optional(),
      starters: z.array(z.string().min(1).max(200)).max(6).optional(),
    }),
    'must be a list of agents',
  );

export const domains = () =>
  z.array(
    z.strictObject({
      id: Name,
      name: z.string().min(1),
      description: z.string().default(''),
      defaultAgent: Name,
      agents: z.array(Name).min(1),
    }),
    'must be a list of domains',
  );
