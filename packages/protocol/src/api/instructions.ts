/** Project instructions and skills. */
import { z } from 'zod';

export const InstructionsDecision = z.object({
  path: z.string().describe('the file, absolute on the server'),
  hash: z.string().describe('SHA-256 of the content that was decided about'),
  use: z.enum(['used', 'declined']),
  everyone: z.boolean().describe('for all users; otherwise for the caller'),
  by: z.string(),
  at: z.iso.datetime(),
});
export type InstructionsDecision = z.infer<typeof InstructionsDecision>;

export const InstructionsDecisions = z.object({ decisions: z.array(InstructionsDecision) });

export const Skill = z.object({
  name: z.string(),
  description: z.string(),
  source: z
    .enum(['project', 'server'])
    .describe('`project`: accepted by the caller; the operator installed the others'),
});
export type Skill = z.infer<typeof Skill>;

export const SkillList = z.object({ skills: z.array(Skill) });

export const SkillsQuery = z.object({
  session: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('a session, whose folder may have skills; default: the server’s folder'),
});

export const InstructionsQuery = z.object({
  path: z.string().min(1).max(4_096),
  everyone: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: the decision for all users, which only admins revoke'),
});
