/**
 * What "always" covers: the program and subcommand with options known to run nothing else, and with paths
 * inside the working directory. Any other command can be allowed by its exact words, or only once.
 */
import { basename, join, relative, sep } from 'node:path';
import { changesGitFolder, isReservedName } from '../git-folder.ts';
import { contains } from '../paths.ts';

import { type OptionTable, optionTable, parseWords, wordSet } from './options.ts';
import { type Scope, targetOf } from './scope.ts';

/** Where the command would run, with all links resolved. */
export type GrantScope = { readonly scope: Scope; readonly workdir: string };

/** Shells, interpreters, wrappers, remote shells and destructive programs: a grant would cover anything. */
const NEVER =
  wordSet(`bash sh zsh dash ksh fish csh tcsh pwsh busybox eval exec source python node bun deno perl ruby php
  lua awk gawk mawk sed ed vi vim emacs gdb tclsh expect osascript java jshell ghci julia R Rscript env xargs sudo doas su ssh
  scp rsync nc socat nohup nice timeout time watch parallel setsid strace script chroot unshare nsenter bwrap find npx pnpx
  bunx uvx pipx docker podman kubectl crontab at tmux screen rm dd shred mkfs kill pkill killall chmod chown curl wget tar`);

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
  const operands = words.includes('--') ? undefined : parseWords(words, covered.options)?.operands;
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

const covered = (operands: Operands, options = ''): CoveredCommand => ({
  options: optionTable(options),
  operands,
});

const table = (entries: Record<string, CoveredCommand>): ReadonlyMap<string, CoveredCommand> =>
  new Map(Object.entries(entries));

const GIT = table({
  add: covered('paths', '-[AuvnN] --all --update --verbose --dry-run --intent-to-add'),
  branch: covered('refs', '-[arvqlt] --all --remotes --verbose --quiet --list --show-current --track'),
  checkout: covered('refs', '-[qt] --quiet --track --detach -[b]='),
  'cherry-pick': covered('refs', '-[n] --no-commit --abort --continue --skip'),
  commit: covered('paths', '-[aqs] --all --quiet --signoff --allow-empty --no-edit -[m]= --message='),
  fetch: covered('remote', '-[qvpt] --quiet --verbose --prune --tags --dry-run --depth='),
  init: { ...covered('paths', '-[q] --quiet -[b]= --initial-branch='), max: 1 },
  merge: covered(
    'refs',
    '-[q] --quiet --no-ff --ff --ff-only --no-edit --no-commit --abort --continue -[m]=',
  ),
  mv: covered('copies', '-[vkn] --verbose --dry-run'),
  pull: covered('remote', '-[qvt] --quiet --verbose --rebase --no-rebase --ff-only --no-edit --tags'),
  push: covered('remote', '-[qvun] --quiet --verbose --set-upstream --dry-run --porcelain'),
  restore: covered('paths', '-[qSW] --quiet --staged --worktree'),
  revert: covered('refs', '-[n] --no-commit --no-edit --abort --continue'),
  stash: covered('verb', '-[quk] --quiet --include-untracked --keep-index --index -[m]= --message='),
  switch: covered('refs', '-[qt] --quiet --track --detach -[c]= --create='),
  tag: covered('refs', '-[la] --list --annotate -[m]= --message='),
});

const NODE_FLAGS =
  '-[sq] --silent --quiet --verbose --json --no-audit --no-fund --offline --prefer-offline --ignore-scripts --frozen-lockfile --if-present';
const NODE_VALUES = '--omit= --depth= --audit-level=';

const NODE = {
  test: covered('none', NODE_FLAGS),
  install: covered('packages', `${NODE_FLAGS} ${NODE_VALUES} -[DE] --save-dev --save-exact`),
  ls: covered('packages', `${NODE_FLAGS} -[al] --all --long ${NODE_VALUES}`),
  outdated: covered('packages', NODE_FLAGS),
  audit: covered('packages', `${NODE_FLAGS} ${NODE_VALUES}`),
  run: covered('script', NODE_FLAGS),
};

const CARGO = `-[qvr] --quiet --verbose --release --all --workspace --all-targets --all-features --no-default-features --lib --bins --tests --examples --locked --offline --frozen -[pFj]= --package= --features= --jobs= --bin= --test= --example=`;

const GO = '-[v] -race -short -cover -failfast';

const PIP_FLAGS = '-[oulqv] --outdated --uptodate --local --user --quiet --verbose --not-required';

/** Each word after the program is a separate command. */
const SUBCOMMANDS: ReadonlyMap<string, ReadonlyMap<string, CoveredCommand>> = new Map([
  ['git', GIT],
  ['npm', table({ ...NODE, ci: covered('none', `${NODE_FLAGS} ${NODE_VALUES}`) })],
  ['pnpm', table(NODE)],
  ['yarn', table(NODE)],
  [
    'cargo',
    table({
      build: covered('none', CARGO),
      check: covered('none', CARGO),
      test: covered('text', `${CARGO} --no-run --no-fail-fast --doc`),
      fmt: covered('none', '-[qv] --quiet --verbose --all --check'),
      clippy: covered('none', CARGO),
      doc: covered('none', `${CARGO} --no-deps`),
    }),
  ],
  [
    'go',
    table({
      build: covered('folders', GO),
      test: covered('folders', `${GO} -run= -count= -timeout= -parallel= -(run|count|timeout|parallel)=.*`),
      vet: covered('folders', GO),
      fmt: covered('folders'),
      mod: covered('verb', '-[v]'),
    }),
  ],
  [
    'pip',
    table({
      list: covered('none', `${PIP_FLAGS} --format=`),
      show: covered('text', '-[fqv] --files --quiet --verbose'),
      freeze: covered('none', PIP_FLAGS),
      check: covered('none', '-[qv] --quiet --verbose'),
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
  basename: covered('text', '-[az] -[s]='),
  cmp: covered('files', '-[slb] -[n]='),
  cp: covered('copies', '-[vnipf]'),
  cut: covered('files', '-[s] -[dfcb]='),
  date: covered('format', '-[uRI] -[d]= --date='),
  df: covered('paths', '-[hkTi]'),
  diff: covered('files', '-[ucqswbBiy] -[UC]='),
  dirname: covered('text', '-[z]'),
  du: covered('paths', '-[hsackm] -[d]= --max-depth='),
  file: covered('files', '-[bi]'),
  hostname: covered('none', '-[fsi]'),
  id: covered('none', '-[ugnG]'),
  mkdir: covered('paths', '-[pv]'),
  mv: covered('copies', '-[vnif]'),
  printf: covered('text'),
  ps: covered('none', '-[efaxAlw]'),
  readlink: covered('paths', '-[femn]'),
  realpath: covered('paths', '-[ems]'),
  rmdir: covered('paths', '-[pv]'),
  seq: covered('text', '-[w] -[sf]='),
  sleep: covered('text'),
  stat: covered('paths', '-[ft] -[c]= --format= --printf='),
  touch: covered('paths', '-[acm] -[dt]='),
  tr: covered('text', '-[cds]'),
  tree: covered('paths', '-[adfhs] -[LIP]='),
  uname: covered('none', '-[asrmn]'),
  uniq: { ...covered('files', '-[cdui]'), max: 1 },
  uptime: covered('none', '-[ps]'),
  whoami: covered('none'),
});
