/**
 * What "always" covers: the program and subcommand with options known to run nothing else, and with paths
 * inside the working directory. Any other command can be allowed by its exact words, or only once.
 */
import { basename, join, relative, sep } from 'node:path';
import { changesGitFolder, isReservedName } from '../git-folder.ts';
import { contains } from '../paths.ts';

import { type Scope, targetOf } from './links.ts';
import { isOption, type OptionTable, optionLength, optionTable } from './options.ts';

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

// What a standing grant covers: for each program and subcommand the allowed options and operands. An option that is missing
// here, or abbreviated, is not covered.

type Operands =
  /** no operands */
  | 'none'
  /** words that are not file names */
  | 'text'
  /** words that begin with a plus sign */
  | 'format'
  /** paths inside the working directory */
  | 'paths'
  /** files inside the working directory, no folders */
  | 'files'
  /** files to copy, and a target file or folder */
  | 'copies'
  /** commits, branches and tags, or paths inside the working directory */
  | 'refs'
  /** a remote by name, which is part of the grant, then branches */
  | 'remote'
  /** a word that is part of the grant, then commits */
  | 'verb'
  /** packages: the grant covers only these words */
  | 'packages'
  /** Go packages inside the working directory */
  | 'folders'
  /** a script, which is part of the grant */
  | 'script';

type CoveredCommand = {
  readonly options: OptionTable;
  readonly operands: Operands;
  readonly max?: number;
};

const covered = (operands: Operands, flags = '', values = ''): CoveredCommand => ({
  options: optionTable(flags, values),
  operands,
});

const table = (entries: Record<string, CoveredCommand>): ReadonlyMap<string, CoveredCommand> =>
  new Map(Object.entries(entries));

const GIT = table({
  add: covered('paths', '-A --all -u --update -v --verbose -n --dry-run -N --intent-to-add'),
  branch: covered(
    'refs',
    '-a --all -r --remotes -v -vv --verbose -q --quiet -l --list --show-current -t --track',
  ),
  checkout: covered('refs', '-q --quiet -t --track --detach', '-b'),
  'cherry-pick': covered('refs', '-n --no-commit --abort --continue --skip'),
  commit: covered('paths', '-a --all -q --quiet -s --signoff --allow-empty --no-edit', '-m --message'),
  fetch: covered('remote', '-q --quiet -v --verbose -p --prune -t --tags --dry-run', '--depth'),
  init: { ...covered('paths', '-q --quiet', '-b --initial-branch'), max: 1 },
  merge: covered('refs', '-q --quiet --no-ff --ff --ff-only --no-edit --no-commit --abort --continue', '-m'),
  mv: covered('copies', '-v --verbose -k -n --dry-run'),
  pull: covered('remote', '-q --quiet -v --verbose --rebase --no-rebase --ff-only --no-edit -t --tags'),
  push: covered('remote', '-q --quiet -v --verbose -u --set-upstream -n --dry-run --porcelain'),
  restore: covered('paths', '-q --quiet -S --staged -W --worktree'),
  revert: covered('refs', '-n --no-commit --no-edit --abort --continue'),
  stash: covered('verb', '-q --quiet -u --include-untracked -k --keep-index --index', '-m --message'),
  switch: covered('refs', '-q --quiet -t --track --detach', '-c --create'),
  tag: covered('refs', '-l --list -a --annotate', '-m --message'),
});

const NODE_FLAGS =
  '-s --silent -q --quiet --verbose --json --no-audit --no-fund --offline --prefer-offline --ignore-scripts --frozen-lockfile --if-present';
const NODE_VALUES = '--omit --depth --audit-level';
const INSTALL_FLAGS = `${NODE_FLAGS} -D --save-dev -E --save-exact`;

const NODE = {
  test: covered('none', NODE_FLAGS),
  install: covered('packages', INSTALL_FLAGS, NODE_VALUES),
  ls: covered('packages', `${NODE_FLAGS} -a --all -l --long`, NODE_VALUES),
  outdated: covered('packages', NODE_FLAGS),
  audit: covered('packages', NODE_FLAGS, NODE_VALUES),
  run: covered('script', NODE_FLAGS),
};

const CARGO_FLAGS =
  '-q --quiet -v --verbose -r --release --all --workspace --all-targets --all-features --no-default-features --lib --bins --tests --examples --locked --offline --frozen';
const CARGO_VALUES = '-p --package -F --features -j --jobs --bin --test --example';

const GO_FLAGS = '-v -race -short -cover -failfast';
const GO_VALUES = '-run -count -timeout -parallel';

const PIP_FLAGS = '-o --outdated -u --uptodate -l --local --user -q --quiet -v --verbose --not-required';

/** Each word after the program is a separate command. */
const SUBCOMMANDS: ReadonlyMap<string, ReadonlyMap<string, CoveredCommand>> = new Map([
  ['git', GIT],
  ['npm', table({ ...NODE, ci: covered('none', NODE_FLAGS, NODE_VALUES) })],
  ['pnpm', table(NODE)],
  ['yarn', table(NODE)],
  [
    'cargo',
    table({
      build: covered('none', CARGO_FLAGS, CARGO_VALUES),
      check: covered('none', CARGO_FLAGS, CARGO_VALUES),
      test: covered('text', `${CARGO_FLAGS} --no-run --no-fail-fast --doc`, CARGO_VALUES),
      fmt: covered('none', '-q --quiet -v --verbose --all --check'),
      clippy: covered('none', CARGO_FLAGS, CARGO_VALUES),
      doc: covered('none', `${CARGO_FLAGS} --no-deps`, CARGO_VALUES),
    }),
  ],
  [
    'go',
    table({
      build: covered('folders', GO_FLAGS),
      test: covered('folders', GO_FLAGS, GO_VALUES),
      vet: covered('folders', GO_FLAGS),
      fmt: covered('folders'),
      mod: covered('verb', '-v'),
    }),
  ],
  [
    'pip',
    table({
      list: covered('none', PIP_FLAGS, '--format'),
      show: covered('text', '-f --files -q --quiet -v --verbose'),
      freeze: covered('none', PIP_FLAGS),
      check: covered('none', '-q --quiet -v --verbose'),
    }),
  ],
]);

/** Only these words may follow. */
const VERBS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['git stash', new Set(['push', 'pop', 'apply', 'list', 'show'])],
  ['go mod', new Set(['tidy', 'download', 'verify', 'graph'])],
]);

/** Programs that run no other program and destroy only what they created. */
const PLAIN = table({
  basename: covered('text', '-a -z', '-s'),
  cmp: covered('files', '-s -l -b', '-n'),
  cp: covered('copies', '-v -n -i -p -f'),
  cut: covered('files', '-s', '-d -f -c -b'),
  date: covered('format', '-u -R -I', '-d --date'),
  df: covered('paths', '-h -k -T -i'),
  diff: covered('files', '-u -c -q -s -w -b -B -i -y', '-U -C'),
  dirname: covered('text', '-z'),
  du: covered('paths', '-h -s -a -c -k -m', '-d --max-depth'),
  file: covered('files', '-b -i'),
  hostname: covered('none', '-f -s -i'),
  id: covered('none', '-u -g -n -G'),
  mkdir: covered('paths', '-p -v'),
  mv: covered('copies', '-v -n -i -f'),
  printf: covered('text'),
  ps: covered('none', '-e -f -a -x -A -l -w'),
  readlink: covered('paths', '-f -e -m -n'),
  realpath: covered('paths', '-e -m -s'),
  rmdir: covered('paths', '-p -v'),
  seq: covered('text', '-w', '-s -f'),
  sleep: covered('text'),
  stat: covered('paths', '-f -t', '-c --format --printf'),
  touch: covered('paths', '-a -c -m', '-d -t'),
  tr: covered('text', '-c -d -s'),
  tree: covered('paths', '-a -d -f -h -s', '-L -I -P'),
  uname: covered('none', '-a -s -r -m -n'),
  uniq: { ...covered('files', '-c -d -u -i'), max: 1 },
  uptime: covered('none', '-p -s'),
  whoami: covered('none'),
});
