/** Recognises read-only uses of git, and the options that prevent them from running programs. */
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryIsPlain } from './git-view.ts';
import { allOpen, type CommandScope, mayMeetSecrets, type Rule } from './rule.ts';

const names = (list: string): string => list.trim().split(/\s+/).join('|');

/** Exact names: git would accept any unambiguous prefix. */
const STATUS = new RegExp(
  `^(-[sbz]+|-u(no|normal|all)?|--(${names(`
    short branch long porcelain(=v?[12])? null untracked-files(=\\w+)? ignored(=\\w+)? column(=.*)? no-column
    ahead-behind no-ahead-behind renames no-renames find-renames(=.*)? show-stash
  `)}))$`,
);

/**
 * Options that need a value, which may be the next word: they consume it whatever it is, `--` and other options included.
 * An option listed here by mistake as optional would hide the words after it from `onlyReads`.
 */
const HISTORY_VALUES = names(`
  decorate-refs glob exclude max-count skip since after until before author committer grep date format unified
  diff-algorithm min-parents max-parents word-diff-regex anchored ignore-matching-lines diff-filter src-prefix
  dst-prefix line-prefix inter-hunk-context encoding
`);
const BRANCH_VALUES = names('contains no-contains merged no-merged points-at sort format');
const NEEDS_VALUE = new RegExp(`^(-[nSGL]|--(${HISTORY_VALUES}|${BRANCH_VALUES}))$`);

/** `log`, `diff` and `show`. Excluded: options that write a file, run a program, merge or enter submodules. */
const HISTORY = new RegExp(
  `^(-\\d+|-[pusbwazRrtmcqiEFPgW]|-n\\d*|-U\\d+|-[MCBD][\\d%/]*|-[SG].*|-l\\d+|-L.*|--(${names(`
    patch no-patch stat(=.*)? shortstat numstat compact-summary dirstat(=.*)? summary raw name-only name-status
    oneline graph decorate(=.*)? no-decorate all branches(=.*)? tags(=.*)? remotes(=.*)? first-parent merges
    no-merges all-match invert-grep regexp-ignore-case extended-regexp basic-regexp fixed-strings perl-regexp follow
    full-history simplify-merges simplify-by-decoration topo-order date-order author-date-order reverse
    relative-date pretty(=.*)? abbrev(=.*)? no-abbrev abbrev-commit no-abbrev-commit parents children left-right
    left-only right-only cherry cherry-pick cherry-mark boundary color(=.*)? no-color color-words(=.*)?
    color-moved(=.*)? no-color-moved word-diff(=.*)? cached staged merge-base minimal patience histogram
    ignore-space-change ignore-all-space ignore-blank-lines ignore-space-at-eol ignore-cr-at-eol function-context
    find-renames(=.*)? find-copies(=.*)? find-copies-harder no-renames rename-empty no-rename-empty pickaxe-all
    pickaxe-regex exit-code quiet check full-index binary no-prefix relative(=.*)? no-relative text no-ext-diff
    no-textconv no-walk(=.*)? do-walk walk-reflogs source notes(=.*)? no-notes mailmap no-mailmap use-mailmap cc
    full-diff dense sparse ancestry-path no-expand-tabs expand-tabs(=.*)?
    diff-merges=(off|none|on|m|first-parent|1|separate|combined|c|dense-combined|cc) no-diff-merges reflog
    show-pulls log-size clear-decorations root
  `)}|(${HISTORY_VALUES})(=.*)?))$`,
);

/** `git branch` creates, moves and deletes by default, so only known listing options are allowed. */
const BRANCH = new RegExp(
  `^(-[avrlqi]+|--(${names(`
    all remotes verbose list show-current no-color no-column ignore-case abbrev(=.*)? color(=.*)? column(=.*)?
  `)}|(${BRANCH_VALUES})(=.*)?))$`,
);
/** With one of these, the following words are patterns or commits, not a new branch. */
const LISTING_MODES = /^--(list|contains|no-contains|merged|no-merged|points-at)(=.*)?$/;

/** Other listing options than those of `branch`; `git tag NAME` creates one. */
const TAG = new RegExp(
  `^(-l|-n\\d*|--(${names('list no-column ignore-case color(=.*)? column(=.*)?')}|(${BRANCH_VALUES})(=.*)?))$`,
);

/** Excluded because they print our own folder: `--git-dir` and similar. */
const REV_PARSE = new RegExp(
  `^(-q|--(${names(`
    quiet verify short(=\\d+)? abbrev-ref(=\\w+)? symbolic symbolic-full-name all branches(=.*)? tags(=.*)?
    remotes(=.*)? show-toplevel show-prefix show-cdup is-inside-work-tree is-bare-repository is-shallow-repository
    show-object-format revs-only no-revs
  `)}))$`,
);

/** Excluded because they read a list of patterns or enter submodules: -X, --exclude-from, --recurse-submodules. */
const LS_FILES = new RegExp(
  `^(-[cdoisumkztv]+|--(${names(`
    cached deleted others ignored stage unmerged modified killed directory no-empty-directory exclude-standard
    exclude=.* error-unmatch full-name abbrev(=\\d+)? eol deduplicate format=.*
  `)}))$`,
);

/** Excluded because they read another file: --contents, -S, --ignore-revs-file. */
const BLAME = new RegExp(
  `^(-[bcefklnpstw]+|-L.*|-[MC]\\d*|--(${names(`
    root show-stats porcelain line-porcelain incremental show-name show-number show-email first-parent minimal
    color-lines color-by-age abbrev=\\d+ date(=.*)? since(=.*)? ignore-rev=.*
  `)}))$`,
);

/** Files of the index only. Excluded: options that run a pager (-O), read other files or enter submodules. */
const GREP = new RegExp(
  `^(-[nilLwvcEFGPhHaIWopqz]+|-[ABC]?\\d+|--(${names(`
    line-number column ignore-case invert-match word-regexp text files-with-matches name-only files-without-match
    count only-matching quiet null full-name show-function function-context heading break color(=\\w+)? no-color
    extended-regexp basic-regexp fixed-strings perl-regexp cached all-match and or not max-depth=\\d+
  `)}))$`,
);

const LS_TREE = /^(-[drtlz]+|--(name-only|name-status|object-only|full-name|full-tree|long|abbrev(=\d+)?))$/;
const DESCRIBE =
  /^--(all|tags|contains|always|long|first-parent|exact-match|dirty(=.*)?|abbrev=\d+|candidates=\d+|match=.*|exclude=.*)$/;
const SHORTLOG = /^(-[sne]+|--(summary|numbered|email|all|merges|no-merges|since=.*|until=.*|group=\w+))$/;

/** Disables programs that a repository's files may request, and ignores submodules. */
const READS_HISTORY = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'];
const SUBCOMMANDS: Record<string, { readonly options: RegExp; readonly added: readonly string[] }> = {
  status: { options: STATUS, added: ['--ignore-submodules=all'] },
  log: { options: HISTORY, added: READS_HISTORY },
  diff: { options: HISTORY, added: READS_HISTORY },
  show: { options: HISTORY, added: READS_HISTORY },
  branch: { options: BRANCH, added: [] },
  tag: { options: TAG, added: [] },
  'rev-parse': { options: REV_PARSE, added: [] },
  'rev-list': { options: new RegExp(`${HISTORY.source}|^--count$`), added: [] },
  'merge-base': { options: /^(-a|--(all|is-ancestor|octopus|independent|fork-point))$/, added: [] },
  'ls-files': { options: LS_FILES, added: [] },
  'ls-tree': { options: LS_TREE, added: [] },
  'cat-file': { options: /^-[tpse]$/, added: [] },
  blame: { options: BLAME, added: ['--no-textconv'] },
  grep: { options: GREP, added: ['--no-textconv'] },
  describe: { options: DESCRIBE, added: [] },
  shortlog: { options: SHORTLOG, added: [] },
};
/** By default they create, move or delete. */
const LISTING = new Set(['branch', 'tag']);

/** An option before the subcommand can redirect everything, so only one is allowed. */
export const gitRule: Rule = async (words, place) => {
  const before = words[0] === '--no-pager' ? words.slice(0, 1) : [];
  const [subcommand = '', ...rest] = words.slice(before.length);
  const known = Object.hasOwn(SUBCOMMANDS, subcommand) ? SUBCOMMANDS[subcommand] : undefined;
  if (!known || !onlyReads(subcommand, rest, known.options)) return null;
  if (
    !allOpen(
      rest.filter((word) => !isDashed(word)),
      place,
    )
  )
    return null;
  if (mayMeetSecrets(place.scope) || isNested(place) || !(await repositoryIsPlain(place.scope))) return null;
  return [...before, subcommand, ...known.added, ...rest];
};

const isDashed = (word: string): boolean => word.startsWith('-');

function onlyReads(subcommand: string, words: readonly string[], known: RegExp): boolean {
  // A format can request signature checks, which run a program: `%G?`, or with a modifier, `%-G?`.
  if (words.some((word) => /%[-+ ]?G|signature/.test(word))) return false;
  // No value begins with a dash, so the first `--` is where git ends the options too.
  const end = words.indexOf('--');
  const before = end < 0 ? words : words.slice(0, end);
  if (words.slice(before.length + 1).some(isDashed)) return false;
  const options = before.filter(isDashed);
  if (!options.every((option) => known.test(option))) return false;
  if (words.some((word, at) => NEEDS_VALUE.test(word) && isDashed(words[at + 1] ?? ''))) return false;
  if (!LISTING.has(subcommand)) return true;
  const lists = (option: string) => LISTING_MODES.test(option) || (subcommand === 'tag' && option === '-l');
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
