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

export const ServerSkill = z.object({
  name: z.string(),
  description: z.string().describe('empty if the skill cannot be used'),
  folder: z.string().describe('absolute on the server'),
  source: z
    .enum(['data', 'configured'])
    .describe('`data`: in the data folder, and can be removed; `configured`: in a folder named at startup'),
  files: z.array(z.string()).describe('besides SKILL.md'),
  problem: z.string().nullable().describe('why agents are not offered it'),
});
export type ServerSkill = z.infer<typeof ServerSkill>;

export const ServerSkillList = z.object({ skills: z.array(ServerSkill) });

export const ServerSkillText = ServerSkill.extend({ text: z.string().describe('the content of SKILL.md') });
export type ServerSkillText = z.infer<typeof ServerSkillText>;

export const AddSkill = z.union([
  z.object({
    path: z
      .string()
      .min(1)
      .max(4_096)
      .describe('a folder with a SKILL.md in the working directory of the server, which is copied'),
  }),
  z.object({
    files: z
      .array(
        z.object({
          path: z.string().min(1).max(300).describe('relative to the folder of the skill'),
          content: z.base64().max(1_500_000),
        }),
      )
      .min(1)
      .max(100)
      .describe('one of them is SKILL.md, whose name is that of the skill'),
  }),
]);
export type AddSkill = z.infer<typeof AddSkill>;

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
