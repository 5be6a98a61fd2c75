/** Where there is no sandbox to hide the server's folders: which looking commands might look into them. */
import { basename, relative, resolve, sep } from 'node:path';
import { contains } from '../paths.ts';
import type { Word } from './script.ts';

/**
 * True where a command names, may expand to, or searches through a hidden folder. Errs on the side of asking. Links are
 * resolved in `workdir` and `hide`; for a path that the command names, `follow` does it.
 */
export function mayReadHidden(
  commands: readonly (readonly Word[])[],
  workdir: string,
  hide: readonly string[],
  follow: (path: string) => string,
): boolean {
  const folders = [workdir];
  for (const [program, ...words] of commands) {
    if (!program) continue;
    const paths = words.flatMap((word) => folders.map((folder) => follow(resolve(folder, word.text))));
    if (program.text === 'cd') folders.push(...paths);
    for (const hidden of hide) {
      if (words.some((word) => word.glob || word.text.includes(basename(hidden)))) return true;
      if ([...folders, ...paths].some((path) => contains(hidden, path))) return true;
      const options = words.map((word) => word.text).filter((word) => word.startsWith('-'));
      if (searchesInto(hidden, program.text, options, folders, paths)) return true;
    }
  }
  return false;
}

/** Whatever could be a path in a word: itself, what follows an equals sign, what follows an option's letter. */
const pathsIn = ({ text }: Word): string[] => [
  text,
  text.slice(text.indexOf('=') + 1),
  text.replace(/^-[a-zA-Z]/, ''),
];

/** True where a command names, or might name, something outside `root`. Errs on the side of asking. */
export function mayLeave(
  commands: readonly (readonly Word[])[],
  workdir: string,
  root: string,
  follow: (path: string) => string,
): boolean {
  const outside = (path: string) => path.startsWith('~') || !contains(root, follow(resolve(workdir, path)));
  // After `cd` a path that seems to lead up may still be inside; who goes up and down in one line is asked.
  return commands.some(([, ...words]) => words.some((word) => pathsIn(word).some(outside)));
}

const GREP_RECURSES = /^(-[a-zA-Z]*[rRd].*|--.*recurs.*|--dir.*)$/;
const RIPGREP_SHOWS_ALL = /^(-[^-]*[u.].*|--hidden|--unrestricted)$/;

/** Whether a search that begins in one of the folders, or at one of the named paths, comes to the hidden one. */
function searchesInto(
  hidden: string,
  program: string,
  options: readonly string[],
  folders: readonly string[],
  paths: readonly string[],
): boolean {
  const over = (path: string) => contains(path, hidden);
  switch (program) {
    case 'grep':
      return options.some((option) => GREP_RECURSES.test(option)) && [...folders, ...paths].some(over);
    case 'rg': {
      const showsAll = options.some((option) => RIPGREP_SHOWS_ALL.test(option));
      return [...folders, ...paths].some((path) => over(path) && (showsAll || !passesDot(path, hidden)));
    }
    // Outside a repository, or with --no-index, `git diff` compares two folders and all that is in them.
    case 'git':
      return paths.some(over);
    default:
      return false;
  }
}

/** On the way there is a name with a leading dot, which ripgrep leaves out unless it is told otherwise. */
const passesDot = (from: string, to: string): boolean =>
  relative(from, to)
    .split(sep)
    .some((segment) => segment.startsWith('.'));
