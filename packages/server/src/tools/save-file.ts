/** Writes one whole file. */
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { type Ask, Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import { resolveForChange } from './confined-path.ts';
import { changesGitFolder } from './git-folder.ts';
import type { Guard } from './guard.ts';
import { type Bounds, confine, exists, inFolder } from './paths.ts';
import { contentOf, fingerprintsOf, mustBeSeen, seenBy, sha256 } from './seen.ts';
import { writeWhole } from './write.ts';

const Input = z.object({
  path: z
    .string()
    .min(1)
    .max(4_096)
    .refine((path) => !isAbsolute(path) && !path.split(/[\\/]/).includes('..') && !path.includes('\0'), {
      message: 'must be relative and stay under the working folder',
    })
    .describe('The path of the file, relative to the working folder.'),
  content: z.string().max(5_000_000),
});
type Input = z.output<typeof Input>;

export const saveFile = (guard: Guard): Tool =>
  defineTool({
    name: 'save_file',
    exclusive: 'always',
    description: 'Writes a text file in the working folder. Overwrites an existing file.',
    input: Input,
    repeatable: true,
    asks: true,
    subjects: ({ path }, folder) => ({
      literal: [inFolder(folder, path)],
      normalised: [normalize(path), join(folder, path)],
    }),
    changes: ({ path }) => [path],
    approval: ({ path, content }, { root }) => askToSave({ path, content }, { root, ...guard }),
    run: async ({ path, content }, context) => {
      const { root, permission } = context;
      const bounds = { root, ...guard };
      await using entry = await resolveForChange(bounds, path, {
        make: true,
        approved: permission === 'approved',
      });
      if ((await exists(entry.at)) && !(await lstat(entry.at)).isFile()) {
        throw new Fault('tool_failed', `The path ${path} is not a file.`);
      }
      const bytes = Buffer.byteLength(content);
      const seen = seenBy(context);
      const check = () => mustBeSeen(seen, { path, isLost: true }, { entry, bounds });
      // If a crash interrupted the call, it may have written the file already.
      const isWritten = seen !== null && (await contentOf(entry.at)) === sha256(content);
      if (!isWritten)
        await writeWhole(entry, content, { check }).catch((cause) => {
          if (cause instanceof Fault) throw cause;
          throw new Fault('tool_failed', `The file ${path} could not be written.`, { cause });
        });
      return { parts: [textPart(`Saved ${path} (${bytes} bytes).`)], data: { path, bytes } };
    },
  });

async function askToSave({ path, content }: Input, bounds: Bounds): Promise<Ask> {
  const command = ['save_file', path, content];
  const place = await confine(bounds, path).catch((thrown) => {
    if (thrown instanceof Fault) return null;
    throw thrown;
  });
  if (!place) {
    return { kind: 'other', command, description: `Writes ${path}, which leaves the working folder.` };
  }
  const verb = (await exists(place.path)) ? 'Replaces' : 'Creates';
  const seen = await fingerprintsOf([{ path, isLost: true }], bounds);
  const description = `${verb} the file ${path} (${Buffer.byteLength(content)} bytes).`;
  // git runs programs named in its own folder: such a write is more than an edit.
  if (await changesGitFolder(await realpath(bounds.root), place.path)) {
    return {
      kind: 'other',
      command,
      seen,
      description: `${description} It may be run later: git's or Parlance's own folder.`,
    };
  }
  return { kind: 'edit', command, seen, description, grant: 'save_file' };
}
