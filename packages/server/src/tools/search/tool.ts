/** Searches the content of files. */
import { realpath } from 'node:fs/promises';
import { join, normalize, relative } from 'node:path';
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../../core/ports/tool.ts';
import { programIn } from '../../lib/program.ts';
import { resolvePath } from '../confined-path.ts';
import type { Guard } from '../guard.ts';
import { type Bounds, exists } from '../paths.ts';
import { untrustedFiles } from '../untrusted-files.ts';
import { CheckedLines } from './checked-lines.ts';
import { matchesOf, type SearchCommand } from './matches.ts';

const Input = z.object({
  query: z
    .string()
    .min(1)
    .max(1_000)
    .refine((query) => !/[\n\0]/.test(query), { message: 'must be one line' })
    .describe('The text to search for.'),
  path: z.string().min(1).default('.').describe('A file or folder, relative to the working folder.'),
  regex: z.boolean().default(false).describe('The query is a regular expression.'),
  offset: z.number().int().min(1).default(1).describe('The first match, counted from 1.'),
});

const PAGE_MATCHES = 200;
const TIMEOUT_MS = 30_000;

export type SearchOptions = Guard & {
  /** path of ripgrep; null: the plain search */
  readonly ripgrep: string | null;
};

export const searchFiles = (options: SearchOptions): Tool =>
  defineTool({
    name: 'search_files',
    description: 'Searches file contents in the working folder. Returns path:line:text for each match.',
    input: Input,
    repeatable: true,
    approval: () => null,
    run: async ({ query, path, regex, offset }, { root: given, signal }) => {
      const bounds = { root: given, ...options };
      const root = await realpath(given);
      const search = { root, query, regex, start: await startOf(bounds, root, path) };
      const command = options.ripgrep ? withRipgrep(options.ripgrep, search) : plainly(search);
      const lines = new CheckedLines(bounds);
      const isUntrusted = untrustedFiles(bounds);
      let untrusted = false;
      const page: string[] = [];
      let number = 0;
      for await (const match of matchesOf(command, signal, TIMEOUT_MS)) {
        const line = await lines.confirm(match);
        if (line === null) continue;
        if (++number < offset) continue;
        if (page.length === PAGE_MATCHES) {
          page.push(`[… more matches follow; go on with offset ${number} …]`);
          break;
        }
        page.push(`${normalize(match.path)}:${line}`);
        untrusted ||= isUntrusted(join(root, match.path));
      }
      const parts = [textPart(page.length === 0 ? 'No match.' : page.join('\n'))];
      return { parts, ...(untrusted && { untrusted }) };
    },
  });

async function startOf(bounds: Bounds, root: string, path: string): Promise<string> {
  await using entry = await resolvePath(bounds, path);
  if (!(await exists(entry.at))) throw new Fault('tool_failed', `There is no path ${path}.`);
  return `./${relative(root, entry.path)}`;
}

type Search = {
  readonly root: string;
  readonly query: string;
  readonly regex: boolean;
  readonly start: string;
};

const withRipgrep = (ripgrep: string, { root, query, regex, start }: Search): SearchCommand => ({
  folder: root,
  env: { PATH: process.env.PATH ?? '' },
  argv: [
    ...[
      ripgrep,
      '--no-config',
      '--color=never',
      '--no-heading',
      '--with-filename',
      '--line-number',
      '--null',
    ],
    ...['--sort=path', '--hidden', '--glob=!.git', '--max-filesize=5M', '--no-messages'],
    ...['--max-columns=300', '--max-columns-preview', ...(regex ? [] : ['--fixed-strings'])],
    ...['--regexp', query, '--', start],
  ],
});

function plainly({ root, query, regex, start }: Search): SearchCommand {
  const { command, env, cwd } = programIn(import.meta.dir, 'plain');
  return { argv: [...command, query, regex ? 'regex' : 'text', root, start], env, folder: cwd };
}
