/**
 * What "always" covers: the program and subcommand with options known to run nothing else, and with paths
 * inside the working directory. Any other command can be allowed by its exact words, or only once.
 */
import { basename, join, relative, sep } from 'node:path';
import { changesGitFolder, isReservedName } from '../git-folder.ts';
import { contains } from '../paths.ts';
import { type CoveredCommand, PLAIN, SUBCOMMANDS, VERBS } from './grant-table.ts';
import { type Scope, targetOf } from './links.ts';
import { isOption, optionLength } from './options.ts';

/** Where the command would run, with all links resolved. */
export type GrantScope = { readonly scope: Scope; readonly workdir: string };

/** Shells, interpreters, wrappers, remote shells and destructive programs: a grant would cover anything. */
const NEVER = new Set([
  ...['bash', 'sh', 'zsh', 'dash', 'ksh', 'fish', 'csh', 'tcsh', 'pwsh', 'busybox', 'eval', 'exec', 'source'],
  ...[
    'python',
    'node',
    'bun',
    'deno',
    'perl',
    'ruby',
    'php',
    'lua',
    'awk',
    'gawk',
    'mawk',
    'sed',
    'ed',
    'vi',
  ],
  ...[
    'vim',
    'emacs',
    'gdb',
    'tclsh',
    'expect',
    'osascript',
    'java',
    'jshell',
    'ghci',
    'julia',
    'R',
    'Rscript',
  ],
  ...['env', 'xargs', 'sudo', 'doas', 'su', 'ssh', 'scp', 'rsync', 'nc', 'socat', 'nohup', 'nice', 'timeout'],
  ...[
    'time',
    'watch',
    'parallel',
    'setsid',
    'strace',
    'script',
    'chroot',
    'unshare',
    'nsenter',
    'bwrap',
    'find',
  ],
  ...['npx', 'pnpx', 'bunx', 'uvx', 'pipx', 'docker', 'podman', 'kubectl', 'crontab', 'at', 'tmux', 'screen'],
  ...['rm', 'dd', 'shred', 'mkfs', 'kill', 'pkill', 'killall', 'chmod', 'chown', 'curl', 'wget', 'tar'],
]);

/** The key of the standing grant for a command; undefined if it can be allowed only once. */
export async function grantFor(argv: readonly string[], place: GrantScope): Promise<string | undefined> {
  const [program, ...words] = argv;
  // A path may name a different program next time.
  if (!program || /[/\\]/.test(program) || NEVER.has(program.replace(/[\d.]+$/, ''))) return undefined;
  const command = grantedCommand(program, words, place);
  if (command === null || !contains(place.scope.root, place.workdir)) return undefined;
  const writes = PLAIN.has(program) || (program === 'git' && words[0] === 'mv');
  if (writes && (await reachesGit(words, place))) return undefined;
  // The effect of a program depends on its folder, so the grant is limited to it.
  const where = relative(place.scope.root, place.workdir);
  return `shell:${command}${where === '' ? '' : ` in ${quote(where)}`}`;
}

function grantedCommand(program: string, words: readonly string[], place: GrantScope): string | null {
  const plain = PLAIN.get(program);
  if (plain) return coveredCommand({ command: program, words }, plain, place);
  const subcommands = SUBCOMMANDS.get(program);
  if (subcommands) {
    const [subcommand = '', ...rest] = words;
    const known = subcommands.get(subcommand);
    return known ? coveredCommand({ command: `${program} ${subcommand}`, words: rest }, known, place) : null;
  }
  const exact = [program, ...words].map(quote).join(' ');
  // An option or an assignment could change what the command does.
  return program !== 'make' || words.every((word) => /^\w[\w.-]*$/.test(word)) ? exact : null;
}

/** Null if the grant does not cover these words. */
function coveredCommand(
  { command, words }: { readonly command: string; readonly words: readonly string[] },
  covered: CoveredCommand,
  place: GrantScope,
): string | null {
  const operands = operandsOf(words, covered);
  if (!operands || operands.length > (covered.max ?? Number.POSITIVE_INFINITY)) return null;
  const [first, ...rest] = operands;
  const inside = (path: string) => isInside(path, place);
  switch (covered.operands) {
    case 'none':
      return operands.length === 0 ? command : null;
    case 'text':
      return command;
    case 'format':
      return operands.every((word) => word.startsWith('+')) ? command : null;
    case 'paths':
      return operands.every(inside) ? command : null;
    case 'files':
      return operands.every((path) => inside(path) && !isFolder(path, place)) ? command : null;
    case 'copies':
      return copiesInside(operands, place) ? command : null;
    case 'refs':
      return operands.every((word) => REF.test(word) && inside(word)) ? command : null;
    case 'remote':
      if (first === undefined) return command;
      return REMOTE.test(first) && rest.every((word) => BRANCH.test(word)) ? `${command} ${first}` : null;
    case 'verb':
      if (first === undefined) return command;
      return VERBS.get(command)?.has(first) && rest.every((word) => STASH.test(word))
        ? `${command} ${first}`
        : null;
    case 'packages':
      if (first === undefined) return command;
      return operands.every((word) => PACKAGE.test(word))
        ? [command, ...words].map(quotedLine).join(' ')
        : null;
    case 'folders':
      return operands.every((word) => /^\.(\/|$)/.test(word) && inside(word)) ? command : null;
    case 'script':
      return first !== undefined && SCRIPT.test(first) && rest.length === 0 ? `${command} ${first}` : null;
  }
}

const REF = /^(?!-)[\w@^~{}./-]+$/;
/** Neither an address nor a path. Git takes an unknown remote for a folder, so the grant names it. */
const REMOTE = /^\w[\w.-]*$/;
/** A plus sign would force, a colon could name or delete another branch. */
const BRANCH = /^\w[\w./-]*$/;
const STASH = /^stash@\{\d+\}$/;
const PACKAGE = /^(@[\w.-]+\/)?\w[\w.-]*(@[\w.^~-]+)?$/;
const SCRIPT = /^\w[\w:.-]*$/;

const quotedLine = (word: string, at: number): string => (at === 0 ? word : quote(word));

/** The operands; null if there is an option that is not covered. */
function operandsOf(words: readonly string[], { options }: CoveredCommand): readonly string[] | null {
  const operands: string[] = [];
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? '';
    if (word === '--') return null;
    const length = isOption(word) ? optionLength(word, options) : 1;
    if (length === 0) return null;
    if (!isOption(word)) operands.push(word);
    at += length;
  }
  return operands;
}

function isInside(path: string, { scope, workdir }: GrantScope): boolean {
  const target = targetOf(workdir, path);
  // A colon begins a git pathspec, which may lead to the top of its repository.
  if (target.kind === 'unclear' || path === '' || path.startsWith(':')) return false;
  const closed = scope.hide.some((hidden) => contains(hidden, target.path) || contains(target.path, hidden));
  const reserved = relative(scope.root, target.path).split(sep).some(isReservedName);
  return contains(scope.root, target.path) && !closed && !reserved;
}

/** Programs named in a git folder are run, and a folder becomes one by the names in it. */
async function reachesGit(words: readonly string[], { scope, workdir }: GrantScope): Promise<boolean> {
  const to = words.at(-1) ?? '';
  const copies =
    targetOf(workdir, to).kind === 'folder' ? words.slice(0, -1).map((from) => join(to, basename(from))) : [];
  for (const word of [...words, ...copies]) {
    const target = targetOf(workdir, word);
    if (target.kind === 'unclear' || !contains(scope.root, target.path)) continue;
    if (await changesGitFolder(scope.root, target.path)) return true;
  }
  return false;
}

const isFolder = (path: string, { workdir }: GrantScope): boolean =>
  targetOf(workdir, path).kind === 'folder';

/** A copy into a folder is written through a link with the file's name there. */
function copiesInside(operands: readonly string[], place: GrantScope): boolean {
  const sources = operands.slice(0, -1);
  const to = operands.at(-1);
  if (to === undefined || !operands.every((path) => isInside(path, place))) return false;
  return !isFolder(to, place) || sources.every((source) => isInside(join(to, basename(source)), place));
}

/** A word quoted for a shell, for display. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
