/** Loads the body of a skill, or one of its files. */
import type { Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import type { ProjectPlace, Skill } from '../../core/ports/project.ts';
import { defineTool, type Tool, type ToolContext } from '../../core/ports/tool.ts';
import { openForReading, resolvePath } from '../confined-path.ts';
import { cutText } from '../cut.ts';
import type { SkillFile } from './skill-file.ts';

const Input = z.object({
  name: z.string().min(1).max(64).describe('The name of the skill.'),
  file: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      'A file of the skill, relative to its folder. Without it, the instructions of the skill are returned.',
    ),
});

const MAX_FILES = 200;
const MAX_DEPTH = 4;
const MAX_FILE_BYTES = 64 * 1024;

type Loaded = SkillFile & {
  /** absolute */
  readonly folder: string;
  readonly source: Skill['source'];
};

export type SkillSource = {
  readonly isOffered: (agent: string, name: string) => boolean;
  /** Null if there is no such skill, or nobody has accepted its present version. */
  readonly body: (place: ProjectPlace, name: string) => Promise<Loaded | null>;
};

export const skillTool = ({ body, isOffered }: SkillSource): Tool =>
  defineTool({
    name: 'skill',
    description:
      'Loads a skill: instructions for a kind of task, and the list of its files. Scripts of a skill are run with the other tools.',
    input: Input,
    repeatable: true,
    approval: () => null,
    async run({ name, file }, { owner, root, eventsSinceIdle }) {
      const agent = agentOf(eventsSinceIdle);
      const skill = agent !== null && isOffered(agent, name) ? await body({ owner, root }, name) : null;
      if (!skill)
        throw new Fault(
          'tool_failed',
          `There is no skill ${JSON.stringify(name)}, or nobody has accepted its present version.`,
        );
      if (file !== undefined && skill.source === 'project')
        throw new Fault(
          'tool_failed',
          `Read the files of this skill with read_file: they are in ${skill.folder}.`,
        );
      if (file !== undefined) return { parts: [textPart(await textOfFile(skill.folder, file))] };
      const files = (await filesIn(skill.folder)).filter((path) => path !== 'SKILL.md');
      const place = skill.source === 'server' ? 'Load them with this tool.' : `They are in ${skill.folder}.`;
      const listed =
        files.length === 0
          ? ''
          : `\n\nFiles of this skill. ${place}\n${files.map((path) => `- ${path}`).join('\n')}`;
      return { parts: [textPart(`${skill.body}${listed}`)], data: { skill: name, files } };
    },
  });

function agentOf(events: ToolContext['eventsSinceIdle']): string | null {
  const last = events.findLast(({ type }) => type === 'turn.started' || type === 'agent.changed');
  if (last?.type === 'turn.started') return last.agent.id;
  return last?.type === 'agent.changed' ? last.to.id : null;
}

/** The first ones, without links, so that a list names nothing outside of the folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (at: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, at), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= MAX_FILES || entry.name.startsWith('.')) continue;
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isFile()) found.push(path);
      else if (entry.isDirectory() && depth < MAX_DEPTH) await visit(path, depth + 1);
    }
  };
  await visit('', 1);
  return found;
}

/** Throws a `Fault` if the path leads out of the folder of the skill. */
async function textOfFile(folder: string, path: string): Promise<string> {
  const bounds = { root: folder, hide: [] };
  await using entry = await resolvePath(bounds, path);
  await using file = await openForReading(bounds, entry).catch((cause) => {
    throw new Fault('tool_failed', `The skill has no file ${path}.`, { cause });
  });
  const found: Stats = await file.stat();
  if (!found.isFile()) throw new Fault('tool_failed', `${path} is not a file.`);
  const buffer = new Uint8Array(MAX_FILE_BYTES);
  const { bytesRead } = await file.read(buffer, 0, MAX_FILE_BYTES, 0);
  const bytes = buffer.subarray(0, bytesRead);
  if (bytes.includes(0)) throw new Fault('tool_failed', `${path} is a binary file of ${found.size} bytes.`);
  return cutText(new TextDecoder().decode(bytes), MAX_FILE_BYTES, { total: found.size, gap: '\n' });
}
