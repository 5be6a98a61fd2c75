/**
 * What a standing grant covers: for each program and subcommand the allowed options and operands. An option that is missing
 * here, or abbreviated, is not covered.
 */
import { type OptionTable, optionTable } from './options.ts';

export type Operands =
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

export type CoveredCommand = {
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
export const SUBCOMMANDS: ReadonlyMap<string, ReadonlyMap<string, CoveredCommand>> = new Map([
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
export const VERBS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['git stash', new Set(['push', 'pop', 'apply', 'list', 'show'])],
  ['go mod', new Set(['tidy', 'download', 'verify', 'graph'])],
]);

/** Programs that run no other program and destroy only what they created. */
export const PLAIN = table({
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
