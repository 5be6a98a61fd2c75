/** Lists a folder, optionally with its subfolders. */
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import { errorCode } from '../lib/errors.ts';
import { openFolder, presentPath, resolvePath } from './confined-path.ts';
import type { Guard } from './guard.ts';
import { hiddenFrom, isHidden } from './paths.ts';
import { untrustedFiles } from './untrusted-files.ts';

const Input = z.object({
  path: z.string().min(1).default('.').describe('A folder path, relative to the working folder.'),
  depth: z.number().int().min(1).max(10).default(1).describe('The number of levels.'),
  offset: z.number().int().min(1).default(1).describe('The first entry, counted from 1.'),
});

const PAGE_ENTRIES = 1_000;
/** Listed, but not opened: they contain too many files. */
const CLOSED = new Set(['.git', 'node_modules']);

export const listFiles = (guard: Guard): Tool =>
  defineTool({
    name: 'list_files',
    description:
      'Lists files and folders, as paths relative to the working folder. Folders end in /, links in @.',
    input: Input,
    repeatable: true,
    approval: () => null,
    run: async ({ path, depth, offset }, { root, signal }) => {
      const bounds = { root, ...guard };
      await using entry = await resolvePath(bounds, path);
      const top = await realpath(root);
      const isUntrusted = untrustedFiles(bounds);
      let untrusted = false;
      const page: string[] = [];
      let number = 0;
      let more = false;
      const start = { at: entry.at, path: entry.path, shown: path };
      for await (const found of entriesOf(start, depth, hiddenFrom(top, bounds.hide))) {
        if (signal.aborted) throw new Fault('cancelled', 'aborted');
        if (++number < offset) continue;
        more = page.length === PAGE_ENTRIES;
        if (more) break;
        page.push(relative(top, found.path) + found.mark);
        // The name of an entry is chosen where it is.
        untrusted ||= isUntrusted(dirname(found.path));
      }
      if (more) page.push(`[… more entries follow; go on with offset ${number} …]`);
      const parts = [textPart(page.length === 0 ? 'The folder is empty.' : page.join('\n'))];
      return { parts, ...(untrusted && { untrusted }) };
    },
  });

type Listed = {
  readonly name: string;
  readonly path: string;
  /** to look at it before the next one: in its folder, which is held open until then */
  readonly at: string;
  readonly mark: '' | '/' | '@';
};
/** `at` is the path to open, `path` its location; `shown` is set for the requested folder. */
type Start = { readonly at: string; readonly path: string; readonly shown?: string };

/**
 * Sorted by name, each folder directly before its content. Follows no links, even if a folder is replaced by
 * one.
 */
export async function* entriesOf(
  { at, path: folder, shown }: Start,
  depth: number,
  hide: readonly string[],
): AsyncGenerator<Listed> {
  const opened = await openFolder(at).catch((cause) => {
    if (shown === undefined) return null;
    const what =
      errorCode(cause) === 'ENOENT' ? `There is no folder ${shown}` : `The path ${shown} is not a folder`;
    throw new Fault('tool_failed', `${what}.`, { cause });
  });
  if (!opened) return;
  await using _handle = opened.handle;
  if (isHidden(hide, await presentPath(opened))) return;
  const entries = await readdir(opened.at, { withFileTypes: true }).catch(() => []);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (isHidden(hide, path)) continue;
    const at = join(opened.at, entry.name);
    const mark = entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : '';
    yield { name: entry.name, path, at, mark };
    if (entry.isDirectory() && depth > 1 && !CLOSED.has(entry.name))
      yield* entriesOf({ at, path }, depth - 1, hide);
  }
}
