/** Programs whose subcommand can follow options, or has several spellings. */
import { isOpen, type LenientWord } from './lenient-script.ts';
import { isOption, optionLength, optionTable } from './options.ts';

/** A way to read the words after the program. */
export type Reading = {
  readonly words: readonly LenientWord[];
  /** the subcommand may be an alias */
  readonly alias?: boolean;
  /** it may run any other command */
  readonly runs?: boolean;
};

/** The words after a program as rules name them: without the options before the subcommand. */
export function readings(program: string, words: readonly LenientWord[]): readonly Reading[] {
  if (program === 'git') return gitReadings(words);
  const found = subcommandReadings(words);
  return program === 'npm' ? found.flatMap(npmReadings) : found;
}

const GIT_OPTIONS = optionTable(
  '-p --paginate -P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path --man-path --info-path --exec-path --version --help -h -v',
  '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source --list-cmds',
);

/** An alias cannot replace a built-in git command; any other word may be an alias. */
const GIT_COMMANDS = new Set(
  `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree
  config count-objects credential credential-cache credential-store daemon describe diagnose diff diff-files diff-index
  diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo
  format-patch fsck gc get-tar-commit-id grep gui hash-object help hook http-backend http-fetch http-push imap-send
  index-pack init init-db instaweb interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge
  merge-base merge-file merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects
  pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack
  reflog refs remote repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm send-email
  send-pack shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule
  switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive
  upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree`.split(/\s+/),
);

function gitReadings(words: readonly LenientWord[]): readonly Reading[] {
  let at = 0;
  let runs = false;
  for (let word = words[0]; word && isOption(word.text); word = words[at]) {
    const length = optionLength(word.text, GIT_OPTIONS);
    const value = length === 2 ? words[at + 1] : undefined;
    if (length === 0 || word.splits || value?.splits) return [{ words: words.slice(at), runs: true }];
    runs ||= /^-[^-]*c|^--config-env|^--exec-path=/.test(word.text);
    at += length;
  }
  const [subcommand, ...rest] = words.slice(at);
  runs ||= subcommand !== undefined && (isOpenAlias(subcommand) || runsCommands(subcommand.text, rest));
  return [{ words: words.slice(at), alias: subcommand !== undefined && isOpen(subcommand), runs }];
}

const isOpenAlias = (subcommand: LenientWord): boolean =>
  !isOpen(subcommand) && !GIT_COMMANDS.has(subcommand.text);

/** git commands that run others, or whose settings name them. */
const GIT_RUNNERS = new Set(
  `citool daemon difftool filter-branch for-each-repo gui hook instaweb merge-index mergetool quiltimport
  send-email`.split(/\s+/),
);

/** Options and words with which other git commands run a command; git accepts any unambiguous prefix of a long option. */
const GIT_RUNS = new Map<string, RegExp>([
  ['rebase', /^-[^-]*[xis]|^--(ex|i|st|edit)/],
  ['bisect', /^run$/],
  ['submodule', /^foreach$/],
  ['grep', /^-[^-]*O|^--op/],
  ['archive', /^--(ex|re)/],
  ['clone', /^-[^-]*[uc]|^--(up|con|te)|^ext::/],
  ['init', /^--te/],
  ['fetch', /^--up|^ext::/],
  ['fetch-pack', /^--(up|ex)|^ext::/],
  ['pull', /^--up|^-[^-]*s|^--st|^ext::/],
  ['push', /^--(re|ex)|^ext::/],
  ['send-pack', /^--(re|ex)|^ext::/],
  ['ls-remote', /^--(up|ex)|^ext::/],
  ['merge', /^-[^-]*s|^--st/],
]);

/** Settings can name commands that git runs later. */
const READS_CONFIG = /^(-l|--list|--get(-all|-regexp|-urlmatch)?|get|list)$/;

function runsCommands(subcommand: string, words: readonly LenientWord[]): boolean {
  if (subcommand === 'config') return words.length > 1 && !READS_CONFIG.test(words[0]?.text ?? '');
  const runs = GIT_RUNS.get(subcommand);
  return GIT_RUNNERS.has(subcommand) || (runs !== undefined && words.some(({ text }) => runs.test(text)));
}

const MAX_READINGS = 16;

/** For an unknown program, the word after an option is its value or the subcommand: both readings are returned. */
function subcommandReadings(words: readonly LenientWord[]): readonly Reading[] {
  const found: Reading[] = [];
  let at = 0;
  while (at < words.length) {
    if (found.length > MAX_READINGS) return [{ words, alias: true }, ...found];
    const start = at;
    while (isOption(words[at]?.text ?? '')) at++;
    if (at === start) break;
    if (at < words.length) found.push({ words: words.slice(at) });
    if ((words[at - 1]?.text ?? '').includes('=')) break;
    at++;
    if (at < words.length && !isOption(words[at]?.text ?? '')) found.push({ words: words.slice(at) });
  }
  return [{ words }, ...found];
}

const NPM_COMMANDS =
  `access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec
  explain explore find-dupes fund get help hook init install install-ci-test install-test link login logout ls org outdated
  owner pack ping pkg prefix profile prune publish query rebuild repo restart root run sbom search set shrinkwrap star stars
  start stop team test token undeprecate uninstall unpublish unstar update version view whoami`.split(/\s+/);

const NPM_ALIASES = new Map([
  ...['i', 'in', 'ins', 'inst', 'insta', 'instal', 'isnt', 'isnta', 'isntal', 'isntall', 'add'].map(
    pair('install'),
  ),
  ...['un', 'unlink', 'remove', 'rm', 'r'].map(pair('uninstall')),
  ...['clean-install', 'ic', 'install-clean', 'isntall-clean'].map(pair('ci')),
  ...['run-script', 'rum', 'urn'].map(pair('run')),
  ...['t', 'tst'].map(pair('test')),
  ...['up', 'upgrade', 'udpate'].map(pair('update')),
  ...['x'].map(pair('exec')),
  ...['c'].map(pair('config')),
  ...['s', 'se', 'find'].map(pair('search')),
  ...['ln'].map(pair('link')),
  ...['create', 'innit'].map(pair('init')),
  ...['author'].map(pair('owner')),
  ...['dist-tags'].map(pair('dist-tag')),
]);

function pair(command: string): (alias: string) => [string, string] {
  return (alias) => [alias, command];
}

/** npm accepts any unambiguous prefix of a command. */
function npmReadings(reading: Reading): readonly Reading[] {
  const [first, ...rest] = reading.words;
  if (!first || first.text === '' || NPM_COMMANDS.includes(first.text)) return [reading];
  const alias = NPM_ALIASES.get(first.text);
  const meant =
    alias === undefined ? NPM_COMMANDS.filter((command) => command.startsWith(first.text)) : [alias];
  return [reading, ...meant.map((text) => ({ words: [{ ...first, text, known: text }, ...rest] }))];
}
