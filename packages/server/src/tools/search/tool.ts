/** Searches the content of files. */
import { realpath } from 'node:fs/promises';
import { join, normalize, relative } from 'node:path';
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../../core/ports/tool.ts';
import { errorCode } from '../../lib/errors.ts';
import { programIn } from '../../lib/program.ts';
import { openForReading, resolvePath } from '../confined-path.ts';
import { cutText } from '../cut.ts';
import type { Guard } from '../guard.ts';
import { type Bounds, exists } from '../paths.ts';
import { untrustedFiles } from '../untrusted-files.ts';
import { type Match, matchesOf, type SearchCommand } from './matches.ts';

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
    ...[ripgrep, '--no-config', '--color=never', '--no-heading', '--with-filename', '--line-number'],
    ...['--null', '--sort=path', '--hidden', '--glob=!.git', '--max-filesize=5M', '--no-messages'],
    ...['--max-columns=300', '--max-columns-preview', ...(regex ? [] : ['--fixed-strings'])],
    ...['--regexp', query, '--', start],
  ],
});

function plainly({ root, query, regex, start }: Search): SearchCommand {
  const { command, env, cwd } = programIn(import.meta.dir, 'plain');
  return { argv: [...command, query, regex ? 'regex' : 'text', root, start], env, folder: cwd };
}

// A search process opens files by path, and a folder on the way may be swapped for a link in the meantime. So
// its matches are only claims: a match counts if the file, resolved here, contains the same line, and that
// line is shown.

/** Minimum that both search programs show of a long line. */
const COMPARED_CHARACTERS = 100;
const SHOWN_CHARACTERS = 300;
const FILE_BYTES = 6_000_000;

class CheckedLines {
  readonly #bounds: Bounds;
  /** the file of the last match: matches are grouped by file */
  #path: string | null = null;
  #lines: readonly string[] = [];

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** "number:text", or null if the file does not contain the match. */
  async confirm({ path, line }: Match): Promise<string | null> {
    if (this.#path !== path) {
      this.#lines = await this.#read(path);
      this.#path = path;
    }
    const colon = line.indexOf(':');
    const text = this.#lines[Number(line.slice(0, colon)) - 1];
    const claimed = line
      .slice(colon + 1)
      .trimEnd()
      .slice(0, COMPARED_CHARACTERS);
    if (text === undefined || !text.startsWith(claimed)) return null;
    return `${line.slice(0, colon)}:${cutText(text.trimEnd(), SHOWN_CHARACTERS, { gap: ' ' })}`;
  }

  async #read(path: string): Promise<string[]> {
    try {
      await using entry = await resolvePath(this.#bounds, path);
      if (entry.linked) return [];
      await using file = await openForReading(this.#bounds, entry);
      const found = await file.stat();
      if (!found.isFile() || found.size > FILE_BYTES) return [];
      return decoded(await file.readFile()).split('\n');
    } catch (thrown) {
      // The file was removed, swapped or hidden: no match.
      if (thrown instanceof Fault || errorCode(thrown) !== undefined) return [];
      throw thrown;
    }
  }
}

/** Decodes like ripgrep: by the byte order mark. */
function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const wide =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null;
  return new TextDecoder(wide ?? 'utf-8').decode(bytes);
}
