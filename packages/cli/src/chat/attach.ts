/** Attaches files to a message: `@path`, `@"path with blanks"`, and paths dropped on the terminal. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Part } from '@parlance/protocol';
import { attachmentOf, NotAdded, problemWith } from '@parlance/ui/chat/attachments.ts';
import { mentionOf } from '@parlance/ui/chat/mention.ts';

const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g;

const pathOf = (given: string): string =>
  resolve(given.startsWith('~/') ? join(homedir(), given.slice(2)) : given);

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

export type AttachedFiles = {
  readonly parts: Part[];
  /** why files were not attached, one sentence each */
  readonly problems: readonly string[];
};

/** A mention that is no file is text: a handle, an address. */
export function mentionedFiles(text: string): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [, quoted, plain = ''] of text.matchAll(MENTION)) {
    const named = [quoted ?? plain, plain.replace(/[.,;:!?)]+$/, '')].map(pathOf);
    const found = named.find(isFile);
    if (found !== undefined) paths.add(found);
  }
  return paths;
}

/** The text as it is, then the files that it names. */
export async function withFiles(text: string): Promise<AttachedFiles> {
  const { parts, problems } = await filesAt(mentionedFiles(text));
  return { parts: text.trim() === '' ? parts : [{ type: 'text', text: text.trim() }, ...parts], problems };
}

export async function filesAt(paths: Iterable<string>): Promise<AttachedFiles> {
  const taken: { readonly bytes: number; readonly part: Part }[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    const found = Bun.file(path);
    const described = { name: basename(path), type: found.type.split(';', 1)[0] ?? '', size: found.size };
    const problem = problemWith(described, taken);
    if (problem !== null) {
      problems.push(problem);
      continue;
    }
    try {
      taken.push(
        await attachmentOf(new File([await found.bytes()], described.name, { type: described.type })),
      );
    } catch (error) {
      if (!(error instanceof NotAdded) && !isUnreadable(error)) throw error;
      problems.push(error instanceof NotAdded ? error.message : `“${described.name}” cannot be read.`);
    }
  }
  return { parts: taken.map(({ part }) => part), problems };
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['EACCES', 'EISDIR', 'ENOENT', 'EIO'].includes(String(error.code));

/** Terminals insert the paths of dropped files quoted for a shell. Null if the text is something else. */
export function droppedPaths(pasted: string): string | null {
  const words = shellWords(pasted.trim());
  if (words === null || words.length === 0 || words.length > 20) return null;
  const paths = words.map((word) =>
    word.startsWith('file://') ? decodeURI(word.slice('file://'.length)) : word,
  );
  if (!paths.every((path) => /^(\/|~\/)/.test(path) && isFile(pathOf(path)))) return null;
  return `${paths.map(mentionOf).join(' ')} `;
}

const QUOTED = /'[^']*'|"[^"]*"|\\./g;

/** Null for an unclosed quote, or for several lines. */
function shellWords(text: string): string[] | null {
  if (text.includes('\n')) return null;
  const words: string[] = [];
  const word = /\s*((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+)/y;
  while (word.lastIndex < text.length) {
    const found = word.exec(text);
    if (!found?.[1]) return null;
    words.push(found[1].replace(QUOTED, (quoted) => quoted.slice(1, quoted.startsWith('\\') ? 2 : -1)));
  }
  return words;
}

export type FileChoice = { readonly text: string; readonly cursor: number; readonly label: string };

const MAX_CHOICES = 50;

/** Completions of the mention before the cursor. */
export function fileChoices(text: string, cursor: number): FileChoice[] {
  const [, typed] = /(?:^|\s)@([^\s"]*)$/.exec(text.slice(0, cursor)) ?? [];
  if (typed === undefined) return [];
  const folder = typed.endsWith('/') ? typed : typed.includes('/') ? `${dirname(typed)}/` : '';
  const start = typed.slice(folder.length).toLowerCase();
  const place = folder === '' ? '.' : pathOf(folder);
  if (!existsSync(place)) return [];
  const from = cursor - typed.length - 1;
  return entriesOf(place)
    .filter(
      ({ name }) => name.toLowerCase().startsWith(start) && (start.startsWith('.') || !name.startsWith('.')),
    )
    .slice(0, MAX_CHOICES)
    .map(({ name, isFolder }) => {
      const path = `${folder}${name}${isFolder ? '/' : ''}`;
      const added = isFolder && !/\s/.test(path) ? `@${path}` : `${mentionOf(path)} `;
      return {
        text: text.slice(0, from) + added + text.slice(cursor),
        cursor: from + added.length,
        label: path,
      };
    });
}

function entriesOf(folder: string): { readonly name: string; readonly isFolder: boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // Not a readable folder: nothing to complete.
    return [];
  }
}
