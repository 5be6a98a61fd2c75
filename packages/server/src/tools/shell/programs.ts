/** Read-only programs, with the options under which they only read, and what each use would read. */
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { contains } from '../paths.ts';
import { repositoryIsPlain } from './git-view.ts';
import {
  isOption,
  type OptionTable,
  optionLength,
  optionTable,
  type ParsedWords,
  parseWords,
} from './options.ts';
import {
  allOpen,
  type CommandScope,
  foldersOf,
  linksStayInside,
  mayMeetSecrets,
  noneOutside,
  type Scope,
} from './scope.ts';

/** The words to run the program with, or null if approval is needed. */
type Rule = (words: readonly string[], place: CommandScope) => Promise<readonly string[] | null>;

const anything: Rule = async (words) => words;

/** The operands that name files, and those that do not. */
type Operands = { readonly files: readonly string[]; readonly others: readonly string[] };

function filesAreOpen(read: ParsedWords, { files, others }: Operands, place: CommandScope): boolean {
  // As in `cut -d/`: one character is a separator, not a path.
  const values = read.values.filter((value) => value.length > 1);
  return allOpen([...files, ...read.files], place) && noneOutside([...others, ...values], place);
}

/** A program whose operands are files, with a further check of the options. */
function reader(
  options = '',
  further: (read: ParsedWords, place: CommandScope) => boolean | Promise<boolean> = () => true,
  operandsOf: (read: ParsedWords) => Operands = ({ operands }) => ({ files: operands, others: [] }),
): Rule {
  const table = optionTable(options);
  return async (words, place) => {
    const read = parseWords(words, table);
    if (!read) return null;
    const operands = operandsOf(read);
    if (!filesAreOpen(read, operands, place)) return null;
    return (await further({ ...read, operands: operands.files }, place)) ? words : null;
  };
}

const has = ({ names }: ParsedWords, ...wanted: string[]): boolean => wanted.some((name) => names.has(name));

/** The first operand is a pattern, unless an option gives one. */
const afterPattern =
  (...givePattern: string[]) =>
  (read: ParsedWords) => {
    const count = has(read, ...givePattern) ? 0 : 1;
    return { files: read.operands.slice(count), others: read.operands.slice(0, count) };
  };

/** With `-L` it shows the targets of links. Without it, a recursive listing can show names in a hidden folder. */
const ls = reader(
  `-[aAbBcCdfFgGhHikLlmnNopqQrRsStuUvxXZ1] -[ITw]= --all --almost-all --author --escape --ignore-backups --classify[=]
  --color[=] --directory --file-type --full-time --no-group --group-directories-first --human-readable --si --inode
  --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --reverse --recursive
  --size --dereference --zero --time[=] --block-size= --format= --hide= --ignore= --indicator-style= --quoting-style=
  --sort= --time-style= --tabsize= --width=`,
  (read, { cwd, scope }) => {
    if (!has(read, '-L', '--dereference')) return true;
    const depth = has(read, '-R', '--recursive') ? undefined : 1;
    return linksStayInside(foldersOf(read.operands, cwd), scope, depth);
  },
);

const grep = reader(
  `-[EFGPiyvwxcLloqsbHhnTZaIrRUz] -[emABCDd]= -[f]=FILE -\\d+ --extended-regexp --fixed-strings --basic-regexp
  --perl-regexp --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data --no-messages --invert-match
  --byte-offset --line-number --line-buffered --with-filename --no-filename --only-matching --quiet --silent --text
  --recursive --dereference-recursive --files-without-match --files-with-matches --count --initial-tab --null
  --color[=] --colour[=] --binary --regexp= --max-count= --label= --binary-files= --directories= --devices= --include=
  --exclude= --exclude-dir= --after-context= --before-context= --context= --group-separator= --file=FILE
  --exclude-from=FILE`,
  async (read, { cwd, scope }) => {
    const follows = has(read, '-R', '--dereference-recursive');
    const recurses = follows || has(read, '-r', '--recursive', '-d', '--directories');
    if (!recurses) return true;
    const folders = foldersOf(read.operands, cwd);
    return showsNothingHidden(folders, scope) && (!follows || linksStayInside(folders, scope));
  },
  afterPattern('-e', '-f', '--regexp', '--file'),
);

/** For programs that read the files of a folder. */
function showsNothingHidden(folders: readonly string[], scope: Scope): boolean {
  if (folders.length > 0 && mayMeetSecrets(scope)) return false;
  return !folders.some((folder) => scope.hide.some((hidden) => contains(folder, hidden)));
}

/**
 * Folders are compared file by file, and links among them are followed. Excluded because it runs a program: -l, --paginate.
 */
const diff = reader(
  `-[qsabBdeEinNpPrtTuwyZ] -[CFILUWx]= -[X]=FILE -\\d+ --brief --report-identical-files --text --ignore-space-change
  --ignore-blank-lines --minimal --ignore-case --new-file --show-c-function --recursive --expand-tabs --initial-tab
  --unified[=] --context[=] --ignore-all-space --ignore-trailing-space --side-by-side --left-column --color[=]
  --suppress-common-lines --normal --ed --rcs --no-dereference --strip-trailing-cr --ignore-tab-expansion --label=
  --exclude= --ignore-matching-lines= --show-function-line= --width= --tabsize= --exclude-from=FILE`,
  async (read, { cwd, scope }) => {
    if (read.operands.length === 0) return true;
    const folders = foldersOf(read.operands, cwd);
    const depth = has(read, '-r', '--recursive') ? undefined : 1;
    return showsNothingHidden(folders, scope) && linksStayInside(folders, scope, depth);
  },
);

const RIPGREP = optionTable(
  `-[isSwxvclLnNoquUaFPHI0p.b] -[egtTABCmMjrE]= -[f]=FILE --ignore-case --case-sensitive --smart-case --word-regexp
  --line-regexp --invert-match --count --count-matches --files-with-matches --files-without-match --follow --no-follow
  --line-number --no-line-number --only-matching --quiet --unrestricted --multiline --multiline-dotall --text
  --fixed-strings --pcre2 --with-filename --no-filename --null --pretty --hidden --no-hidden --byte-offset --column
  --no-column --heading --no-heading --files --json --stats --trim --vimgrep --passthru --no-ignore --no-ignore-vcs
  --no-ignore-dot --no-ignore-parent --no-ignore-global --no-messages --type-list --one-file-system --crlf
  --block-buffered --line-buffered --mmap --no-mmap --glob-case-insensitive --null-data --max-columns-preview
  --no-config --include-zero --no-unicode --regexp= --glob= --iglob= --type= --type-not= --type-add= --type-clear=
  --after-context= --context= --before-context= --max-count= --max-columns= --max-depth= --maxdepth= --max-filesize=
  --threads= --replace= --encoding= --color= --colors= --sort= --sortr= --context-separator= --path-separator=
  --engine= --field-match-separator= --field-context-separator= --regex-size-limit= --dfa-size-limit= --file=FILE
  --ignore-file=FILE`,
);

/**
 * Excludes hidden folders by name: an ignore file can otherwise make ripgrep search a folder with a leading dot. Excluded
 * because they run a program: --pre, --hostname-bin, -z.
 */
const ripgrep: Rule = async (words, place) => {
  const { cwd, scope } = place;
  const read = parseWords(words, RIPGREP);
  if (!read) return null;
  const operands = afterPattern('-e', '-f', '--regexp', '--file', '--files', '--type-list')(read);
  if (!filesAreOpen(read, operands, place)) return null;
  const folders = foldersOf(operands.files, cwd);
  if (folders.length > 0 && mayMeetSecrets(scope)) return null;
  if (has(read, '-L', '--follow') && !(await linksStayInside(folders, scope))) return null;
  const entered = scope.hide.filter((hidden) => folders.some((folder) => contains(folder, hidden)));
  // By name only: a search may reach the folder by more than one path.
  const left = entered.map((hidden) => basename(hidden));
  const overruled = has(read, '-g', '--glob', '--iglob');
  if (entered.length > 0 && (overruled || !left.every((name) => /^[\w.-]+$/.test(name)))) return null;
  return [...left.map((name) => `--glob=!${name}`), ...words];
};

/** Tests and actions. Excluded because they run or write: -exec, -ok, -delete, -fprint, -fls. */
const FIND = optionTable(
  `-depth -d -mount -xdev -noleaf -daystart -ignore_readdir_race -warn -nowarn -empty -readable -writable -executable
  -true -false -nouser -nogroup -print -print0 -ls -prune -quit -follow -not -a -and -o -or -name= -iname= -path=
  -ipath= -wholename= -iwholename= -lname= -ilname= -regex= -iregex= -regextype= -type= -xtype= -size= -perm= -user=
  -group= -uid= -gid= -links= -inum= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -used= -maxdepth= -mindepth= -printf=
  -fstype= -newermt= -newer=FILE -anewer=FILE -cnewer=FILE -samefile=FILE`,
);

/** Options, then folders, then an expression in which words without a dash are only operators. */
const find: Rule = async (words, place) => {
  const start = words.findIndex((word) => !/^-[HLP]$/.test(word));
  const rest = start < 0 ? [] : words.slice(start);
  const end = rest.findIndex((word) => /^[-(),!]/.test(word));
  const paths = end < 0 ? rest : rest.slice(0, end);
  const expression = rest.slice(paths.length);
  const read = expression.includes('--') ? null : parseWords(expression, FIND);
  if (!read?.operands.every((word) => /^[(),!]$/.test(word))) return null;
  if (!allOpen([...paths, ...read.files], place)) return null;
  const options = words.slice(0, words.length - rest.length);
  const follows = options.some((word) => word !== '-P') || has(read, '-follow');
  return !follows || (await linksStayInside(foldersOf(paths, place.cwd), place.scope)) ? words : null;
};

const ASKS_ABOUT_FILE = /^-[bcdefgGhkLNOprsSuwx]$/;
const COMPARES_FILES = /^-(nt|ot|ef)$/;
const COMPARES_NUMBERS = /^-(eq|ne|lt|le|gt|ge)$/;

/** One condition. In bash, other operators (`-v`) execute what a variable's index contains. */
const condition: Rule = async (words, place) => {
  const [left = '', operator = '', right = '', ...more] = words[0] === '!' ? words.slice(1) : words;
  const count = words.length - (words[0] === '!' ? 1 : 0);
  const holds = () => {
    if (more.length > 0) return false;
    if (count === 2)
      return /^-[nz]$/.test(left) || (ASKS_ABOUT_FILE.test(left) && allOpen([operator], place));
    if (count !== 3) return false;
    if (COMPARES_FILES.test(operator)) return allOpen([left, right], place);
    if (COMPARES_NUMBERS.test(operator)) return [left, right].every((value) => /^-?\d+$/.test(value));
    return /^(==?|!=)$/.test(operator);
  };
  return holds() ? words : null;
};

/** `sed -n N[,M]p` and file names. sed also accepts options after them. */
const sed: Rule = async (words, place) => {
  const [quiet, expression, ...files] = words;
  if (quiet !== '-n' || !/^\d+(,\d+)?p$/.test(expression ?? '')) return null;
  return files.every((file) => !file.startsWith('-')) && allOpen(files, place) ? words : null;
};

const CHECKSUM = '-[bt] --binary --text --tag';
const lookUp = reader();

// Read-only uses of git, and the options that prevent them from running programs.

/** Of `log`, `diff` and `show`. Excluded: options that write a file, run a program, merge or enter submodules. */
const HISTORY = `-([pusbwazRrtmcqiEFPgW]) -\\d+ -n\\d+ -U\\d+ -[MCBD][\\d%/]* -([SGL]).+ -l\\d+ -n= -S= -G= -L=
  --patch --no-patch --stat[=] --shortstat --numstat --compact-summary --dirstat[=] --summary --raw --name-only
  --name-status --oneline --graph --decorate[=] --no-decorate --all --branches[=] --tags[=] --remotes[=] --first-parent
  --merges --no-merges --all-match --invert-grep --regexp-ignore-case --extended-regexp --basic-regexp --fixed-strings
  --perl-regexp --follow --full-history --simplify-merges --simplify-by-decoration --topo-order --date-order
  --author-date-order --reverse --relative-date --pretty[=] --abbrev[=] --no-abbrev --abbrev-commit --no-abbrev-commit
  --parents --children --left-right --left-only --right-only --cherry --cherry-pick --cherry-mark --boundary --color[=]
  --no-color --color-words[=] --color-moved[=] --no-color-moved --word-diff[=] --cached --staged --merge-base --minimal
  --patience --histogram --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol
  --ignore-cr-at-eol --function-context --find-renames[=] --find-copies[=] --find-copies-harder --no-renames
  --rename-empty --no-rename-empty --pickaxe-all --pickaxe-regex --exit-code --quiet --check --full-index --binary
  --no-prefix --relative[=] --no-relative --text --no-ext-diff --no-textconv --no-walk[=] --do-walk --walk-reflogs
  --source --notes[=] --no-notes --mailmap --no-mailmap --use-mailmap --cc --full-diff --dense --sparse --ancestry-path
  --no-expand-tabs --expand-tabs[=] --no-diff-merges --reflog --show-pulls --log-size --clear-decorations --root
  --diff-merges=(off|none|on|m|first-parent|1|separate|combined|c|dense-combined|cc) --decorate-refs= --glob=
  --exclude= --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --date= --format=
  --unified= --diff-algorithm= --min-parents= --max-parents= --word-diff-regex= --anchored= --ignore-matching-lines=
  --diff-filter= --src-prefix= --dst-prefix= --line-prefix= --inter-hunk-context= --encoding=`;
const LISTING =
  '--contains= --no-contains= --merged= --no-merged= --points-at= --sort= --format= --list --no-column --ignore-case --color[=] --column[=]';

/** Disables programs that a repository's files may request, and ignores submodules. */
const READS_HISTORY = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'];

type GitCommand = { readonly options: OptionTable; readonly added: readonly string[] };
const reads = (options: string, ...added: string[]): GitCommand => ({ options: optionTable(options), added });
const history = reads(HISTORY, ...READS_HISTORY);

const GIT: ReadonlyMap<string, GitCommand> = new Map(
  Object.entries({
    status: reads(
      `-[sbz] -u(no|normal|all)? --short --branch --long --porcelain(=v?[12])? --null --untracked-files(=\\w+)?
      --ignored(=\\w+)? --column[=] --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames[=]
      --show-stash`,
      '--ignore-submodules=all',
    ),
    log: history,
    diff: history,
    show: history,
    // They create, move and delete by default: only known listing options are allowed.
    branch: reads(`-[avrlqi] --all --remotes --verbose --show-current --no-color --abbrev[=] ${LISTING}`),
    tag: reads(`-l -n\\d* ${LISTING}`),
    // Excluded because they print our own folder: `--git-dir` and similar.
    'rev-parse': reads(
      `-q --quiet --verify --short(=\\d+)? --abbrev-ref(=\\w+)? --symbolic --symbolic-full-name --all --branches[=]
      --tags[=] --remotes[=] --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-bare-repository
      --is-shallow-repository --show-object-format --revs-only --no-revs`,
    ),
    'rev-list': reads(`${HISTORY} --count`),
    'merge-base': reads('-a --all --is-ancestor --octopus --independent --fork-point'),
    // Excluded because they read a list of patterns or enter submodules: -X, --exclude-from, --recurse-submodules.
    'ls-files': reads(
      `-[cdoisumkztv] --cached --deleted --others --ignored --stage --unmerged --modified --killed --directory
      --no-empty-directory --exclude-standard --exclude=(.*) --error-unmatch --full-name --abbrev(=\\d+)? --eol
      --deduplicate --format=(.*)`,
    ),
    'ls-tree': reads(
      '-[drtlz] --name-only --name-status --object-only --full-name --full-tree --long --abbrev(=\\d+)?',
    ),
    'cat-file': reads('-t -p -s -e'),
    // Excluded because they read another file: --contents, -S, --ignore-revs-file.
    blame: reads(
      `-[bcefklnpstw] -(L).+ -L= -[MC]\\d* --root --show-stats --porcelain --line-porcelain --incremental --show-name
      --show-number --show-email --first-parent --minimal --color-lines --color-by-age --abbrev=\\d+ --date= --since=
      --ignore-rev=(.*)`,
      '--no-textconv',
    ),
    // Files of the index only. Excluded: options that run a pager (-O), read other files or enter submodules.
    grep: reads(
      `-[nilLwvcEFGPhHaIWopqz] -[ABC]?\\d+ --line-number --column --ignore-case --invert-match --word-regexp --text
      --files-with-matches --name-only --files-without-match --count --only-matching --quiet --null --full-name
      --show-function --function-context --heading --break --color(=\\w+)? --no-color --extended-regexp --basic-regexp
      --fixed-strings --perl-regexp --cached --all-match --and --or --not --max-depth=\\d+`,
      '--no-textconv',
    ),
    describe: reads(
      `--all --tags --contains --always --long --first-parent --exact-match --dirty[=] --abbrev=\\d+ --candidates=\\d+
      --match=(.*) --exclude=(.*)`,
    ),
    shortlog: reads(
      '-[sne] --summary --numbered --email --all --merges --no-merges --since=(.*) --until=(.*) --group=\\w+',
    ),
  }),
);

/** An option before the subcommand can redirect everything, so only one is allowed. */
const git: Rule = async (words, place) => {
  const before = words[0] === '--no-pager' ? words.slice(0, 1) : [];
  const [subcommand = '', ...rest] = words.slice(before.length);
  const known = GIT.get(subcommand);
  if (!known || !onlyReads(subcommand, rest, known.options)) return null;
  const others = rest.filter((word) => !isDashed(word));
  if (!allOpen(others, place)) return null;
  if (mayMeetSecrets(place.scope) || isNested(place) || !(await repositoryIsPlain(place.scope))) return null;
  return [...before, subcommand, ...known.added, ...rest];
};

const isDashed = (word: string): boolean => word.startsWith('-');

function onlyReads(subcommand: string, words: readonly string[], known: OptionTable): boolean {
  // A format can request signature checks, which run a program: `%G?`, or with a modifier, `%-G?`.
  if (words.some((word) => /%[-+ ]?G|signature/.test(word))) return false;
  // No value begins with a dash, so the first `--` is where git ends the options too.
  const end = words.indexOf('--');
  const before = end < 0 ? words : words.slice(0, end);
  if (words.slice(before.length + 1).some(isDashed)) return false;
  const options = before.filter(isDashed);
  if (!options.every((option) => isOption(option) && optionLength(option, known) > 0)) return false;
  if (before.some((word, at) => optionLength(word, known) === 2 && isDashed(words[at + 1] ?? '')))
    return false;
  if (subcommand !== 'branch' && subcommand !== 'tag') return true;
  // With one of these, the other words are patterns or commits, not a new branch or tag.
  const lists = (option: string) =>
    /^--(list|contains|no-contains|merged|no-merged|points-at)(=|$)/.test(option) ||
    (subcommand === 'tag' && option === '-l');
  return options.length === words.length || options.some(lists);
}

/** Whether the folder belongs to another repository than the root. */
function isNested({ cwd, scope: { root } }: CommandScope): boolean {
  for (let folder = cwd; folder !== root; folder = dirname(folder)) {
    const has = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
    if (has('.git') || (has('HEAD') && has('objects') && has('refs'))) return true;
  }
  return false;
}

/** Programs whose operands are files, with their options. */
const READERS = {
  whoami: '',
  uname: '-[asnrvmpio]',
  nproc: '--all',
  realpath: '-[emqsz] --relative-to=FILE --relative-base=FILE',
  readlink: '-[efmnz] --canonicalize',
  // Excluded because they write or run: -o, -T, --compress-program; because it reads a list of files: --files0-from.
  sort: `-[bcCdfghimMnRrsuVz] -[kt]= --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort
    --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort
    --check[=] --merge --stable --unique --zero-terminated --key= --field-separator= --sort=`,
  cut: `-[nsz] -[bcdf]= --complement --only-delimited --zero-terminated --bytes= --characters= --delimiter= --fields=
    --output-delimiter=`,
  tac: '-[b] -[s]=',
  rev: '',
  comm: '-[123z] --check-order --nocheck-order --total',
  paste: '-[sz] -[d]= --serial --delimiters=',
  column: '-[tx] -[sco]=',
  od: '-[abcdfilosxv] -[AjNt]=',
  cmp: '-[bls] -[in]= --print-bytes --verbose --quiet --silent',
  // Excluded because they read a list of files: -c, --check.
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha256sum: CHECKSUM,
  stat: '-[fLt] -[c]= --dereference --file-system --terse --format= --printf=',
  // Excluded because they follow links or read a list of files: -L, -D, -H, --files0-from.
  du: `-[0abchklmPsSx] -[Bdt]= -[X]=FILE --null --all --apparent-size --bytes --total --human-readable --inodes
    --count-links --si --no-dereference --separate-dirs --summarize --one-file-system --time[=] --block-size=
    --max-depth= --threshold= --exclude= --time-style= --exclude-from=FILE`,
  // Excluded because they run a program, read a list of files or write: -z, -f, -C.
  file: '-[bhiL] --brief --mime --mime-type --mime-encoding --dereference',
  pwd: '-[LP]',
  which: '-[as]',
  cat: `-[AbeEnstTuv] --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting
    --show-all`,
  nl: `-[p] -[bdfhilnsvw]= --no-renumber --body-numbering= --section-delimiter= --footer-numbering= --header-numbering=
    --line-increment= --join-blank-lines= --number-format= --number-separator= --starting-line-number=
    --number-width=`,
  head: '-[qvz] -[cn]= -\\d+ --quiet --silent --verbose --zero-terminated --bytes= --lines=',
  // Excluded because they reopen a name later: -F, --follow, --retry.
  tail: '-[fqvz] -[cns]= -\\d+ --quiet --silent --verbose --zero-terminated --bytes= --lines= --sleep-interval=',
  // Excluded because it reads a list of files: --files0-from.
  wc: '-[cmlLw] --bytes --chars --lines --max-line-length --words',
};

export const KNOWN_SAFE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...Object.entries(READERS).map(([program, options]): [string, Rule] => [program, reader(options)]),
  ...['true', 'false', 'echo', 'basename', 'dirname'].map((program): [string, Rule] => [program, anything]),
  ['test', condition],
  [
    '[',
    async (words, place) =>
      words.at(-1) === ']' && (await condition(words.slice(0, -1), place)) ? words : null,
  ],
  // Without -v it would run its operands.
  [
    'command',
    async (words, place) => (words[0] === '-v' ? (await lookUp(words.slice(1), place)) && words : null),
  ],
  // Another operand sets the clock.
  ['date', async (words) => (words.every((word) => /^(\+.*|-u|-R|-I\w*|--utc)$/s.test(word)) ? words : null)],
  // With a second operand, it would write a file.
  [
    'uniq',
    reader(
      `-[cdDiuz] -[fsw]= --count --repeated --all-repeated[=] --group[=] --ignore-case --unique --zero-terminated
      --skip-fields= --skip-chars= --check-chars=`,
      ({ operands }) => operands.length <= 1,
    ),
  ],
  [
    'tr',
    reader(
      '-[cCdst] --complement --delete --squeeze-repeats --truncate-set1',
      () => true,
      () => ({ files: [], others: [] }),
    ),
  ],
  ['diff', diff],
  ['ls', ls],
  ['grep', grep],
  ['rg', ripgrep],
  ['find', find],
  ['git', git],
  ['sed', sed],
]);
