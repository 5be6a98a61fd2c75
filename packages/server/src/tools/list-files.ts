/** Lists a folder and, if asked, the folders in it. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import { type Bounds, confine, isHidden } from './paths.ts';

const Input = z.object({
  path: z.string().min(1).default('.').describe('A folder, relative to the working folder.'),
  depth: z.number().int().min(1).max(10).default(1).describe('How many levels.'),
  offset: z.number().int().min(1).default(1).describe('The first entry, counted from 1.'),
});

const PAGE_ENTRIES = 1_000;
/** Named, but not opened: they hold more than anyone asks for. */
const CLOSED = new Set(['.git', 'node_modules']);

export const listFiles = (hide: readonly string[]): Tool =>
  defineTool({
    name: 'list_files',
    description:
      'Lists the files and folders of a folder, as paths from the working folder. Folders end in /, links in @.',
    input: Input,
    repeatable: true,
    approval: () => null,
    run: async ({ path, depth, offset }, { root, signal }) => {
      const place = await confine({ root, hide }, path);
      const found = await stat(place.path).catch((cause) => {
        throw new Fault('tool_failed', `There is no folder ${path}.`, { cause });
      });
      if (!found.isDirectory()) throw new Fault('tool_failed', `The path ${path} is not a folder.`);
      const top = await realpath(root);
      const page: string[] = [];
      let number = 0;
      let more = false;
      for await (const entry of entriesOf(place.path, depth, { root, hide })) {
        if (signal.aborted) throw new Fault('cancelled', 'aborted');
        if (++number < offset) continue;
        more = page.length === PAGE_ENTRIES;
        if (more) break;
        page.push(relative(top, entry.path) + entry.mark);
      }
      if (more) page.push(`[… more entries follow; go on with offset ${number} …]`);
      return { parts: [textPart(page.length === 0 ? 'The folder is empty.' : page.join('\n'))] };
    },
  });

type Entry = { readonly path: string; readonly mark: '' | '/' | '@' };

/** Sorted by name, each folder right before what is in it. Links are not followed. */
async function* entriesOf(folder: string, depth: number, bounds: Bounds): AsyncGenerator<Entry> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (await isHidden(bounds.hide, path)) continue;
    yield { path, mark: entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : '' };
    if (entry.isDirectory() && depth > 1 && !CLOSED.has(entry.name))
      yield* entriesOf(path, depth - 1, bounds);
  }
}
