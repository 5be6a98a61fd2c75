/** Prompts that a user has saved. */
import { z } from 'zod';

export const SavedPrompt = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .describe('lower-case letters, digits and hyphens; `/name` in a message'),
  text: z.string().trim().min(1).max(20_000),
});
export type SavedPrompt = z.infer<typeof SavedPrompt>;

export const SavedPromptList = z.object({ prompts: z.array(SavedPrompt) });
