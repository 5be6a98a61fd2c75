/** The format of `SKILL.md`: YAML front matter with a name and a description, and a body in Markdown (agentskills.io). */
import { z } from 'zod';

export type SkillFile = {
  readonly name: string;
  readonly description: string;
  /** what the model reads when it loads the skill */
  readonly body: string;
};

const MAX_FRONT_MATTER = 8 * 1024;

export const SkillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must have lower-case letters, digits and single hyphens');

/** Other fields are allowed and ignored: they cannot give a skill more rights. */
const FrontMatter = z.object({
  name: SkillName,
  description: z
    .string()
    .trim()
    .min(1)
    .max(1_024)
    // One line of a list in the prompt.
    .transform((text) => text.replaceAll(/\s+/g, ' ')),
});

/** Throws an error with a sentence for the user. `folder` is the name of the folder that the file is in, if it is in one. */
export function parseSkill(text: string, folder?: string): SkillFile {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!found) throw new Error('it has no front matter between two lines of ---');
  const [whole, yaml = ''] = found;
  if (yaml.length > MAX_FRONT_MATTER)
    throw new Error(`its front matter has more than ${MAX_FRONT_MATTER} characters`);
  const parsed = FrontMatter.safeParse(parseYaml(yaml));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.') || 'its front matter'}: ${issue?.message}`);
  }
  const { name, description } = parsed.data;
  if (folder !== undefined && name !== folder)
    throw new Error(`its name is ${name}, but its folder is called ${folder}`);
  return { name, description, body: text.slice(whole.length).trim() };
}

/** An alias is a reference, not a copy, and only own fields of the schema are read: a key such as `__proto__` has no effect. */
function parseYaml(yaml: string): unknown {
  try {
    return Bun.YAML.parse(yaml);
  } catch (thrown) {
    throw new Error(`its front matter is not YAML: ${thrown instanceof Error ? thrown.message : ''}`);
  }
}
