/** Which uses of git only read. */

const READING = new Set(['status', 'log', 'diff', 'show']);
/** They write a file, or run a program that the repository's configuration names. */
const WRITING_OPTIONS = ['--output', '--ext-diff', '--textconv', '--show-signature'];
/** `git branch` creates, moves and deletes by default, so only what is known to list is let through. */
const LISTING_OPTIONS =
  /^(-[avrlq]+|--all|--remotes|--verbose|--list|--show-current|--(no-)?(color|column)|--ignore-case|--(contains|no-contains|merged|no-merged|points-at|sort|format|abbrev|color|column)(=.*)?)$/;
/** With one of these, the words that follow are patterns or commits, not a new branch. */
const LISTING_MODES = /^--(list|contains|no-contains|merged|no-merged|points-at)(=.*)?$/;

/** `argv` without the leading "git". An option before the subcommand can redirect everything, so only one passes. */
export function gitOnlyReads(argv: readonly string[]): boolean {
  const [subcommand, ...rest] = argv[0] === '--no-pager' ? argv.slice(1) : argv;
  if (subcommand === 'branch') return branchOnlyLists(rest);
  return subcommand !== undefined && READING.has(subcommand) && !rest.some(writes);
}

/** git accepts any unambiguous beginning of a long option. */
function writes(word: string): boolean {
  const name = word.split('=', 1)[0] ?? word;
  // %G in a format runs the program that checks signatures.
  if (word.includes('%G')) return true;
  return name.length > 2 && WRITING_OPTIONS.some((option) => option.startsWith(name));
}

function branchOnlyLists(words: readonly string[]): boolean {
  const options = words.filter((word) => word.startsWith('-'));
  if (!options.every((option) => LISTING_OPTIONS.test(option)) || words.some(writes)) return false;
  return options.length === words.length || options.some((option) => LISTING_MODES.test(option));
}
