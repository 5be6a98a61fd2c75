/**
 * Normalizes a command for rules that deny: programs by base name, without wrapper programs, assignments and options before
 * the subcommand, and with every command of a script or a nested script.
 */
import type { RuleSubjects } from '../../core/ports/tool.ts';
import { fixedWord, isOpen, type LenientWord, readLeniently } from './lenient-script.ts';
import { isOption, type OptionTable, optionLength, optionTable } from './options.ts';

// Programs that run another program, and where its words begin.

type Wrapper = {
  readonly options: OptionTable;
  /** operands before the program, such as the duration of `timeout` */
  readonly operands?: number;
  /** `NAME=value` may precede the program */
  readonly assigns?: boolean;
  /** with one of these it runs nothing, but reports about the program */
  readonly tells?: OptionTable;
  /** with one of these the value is a script */
  readonly script?: ReadonlySet<string>;
  /** it appends its own words */
  readonly appends?: boolean;
};

const plain: Wrapper = { options: optionTable('') };

const WRAPPERS = new Map<string, Wrapper>([
  [
    'env',
    {
      options: optionTable(
        '- -i --ignore-environment -0 --null -v --debug',
        '-u --unset -C --chdir -a --argv0 -S --split-string',
      ),
      assigns: true,
      script: new Set(['-S', '--split-string']),
    },
  ],
  ['nice', { options: optionTable('', '-n --adjustment') }],
  [
    'timeout',
    {
      options: optionTable(
        '--foreground --preserve-status -f -p -v --verbose',
        '-s --signal -k --kill-after',
      ),
      operands: 1,
    },
  ],
  ['command', { options: optionTable('-p'), tells: optionTable('-v -V') }],
  ['builtin', plain],
  ['nohup', plain],
  ['exec', { options: optionTable('-c -l', '-a') }],
  [
    'time',
    { options: optionTable('-p -v -a -q --portability --verbose --append', '-f -o --format --output') },
  ],
  ['stdbuf', { options: optionTable('', '-i -o -e --input --output --error') }],
  ['setsid', { options: optionTable('-c -f -w --ctty --fork --wait') }],
  ['ionice', { options: optionTable('-t --ignore', '-c -n --class --classdata') }],
  ['chrt', { options: optionTable('-a -b -d -f -i -o -r -R'), operands: 1 }],
  ['taskset', { options: optionTable('-a -c --all-tasks --cpu-list'), operands: 1 }],
  [
    'flock',
    {
      options: optionTable(
        '-e -x -s -n -o -u -F -v --exclusive --shared --nonblock --close --unlock --no-fork --verbose',
        '-w -E --timeout --conflict-exit-code',
      ),
      operands: 1,
    },
  ],
  [
    'sudo',
    {
      options: optionTable(
        '-A -b -B -E -H -i -k -n -N -P -S -s --askpass --background --preserve-env --set-home --login --non-interactive --stdin --shell',
        '-u -g -h -p -C -D -R -T -r -t -c --user --group --host --prompt --close-from --chdir --chroot --command-timeout --role --type',
      ),
      assigns: true,
    },
  ],
  ['doas', { options: optionTable('-n -s', '-u -C -a') }],
  [
    'xargs',
    {
      options: optionTable(
        '-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty',
        '-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file --max-chars',
      ),
      appends: true,
    },
  ],
  ['busybox', plain],
  ['fakeroot', plain],
]);

/** What these run cannot be read from their words. */
const OPAQUE = new Set([
  ...[
    '.',
    'source',
    'alias',
    'trap',
    'su',
    'runuser',
    'ssh',
    'script',
    'parallel',
    'watch',
    'chroot',
    'unshare',
  ],
  ...[
    'nsenter',
    'bwrap',
    'strace',
    'ltrace',
    'systemd-run',
    'setpriv',
    'prlimit',
    'unbuffer',
    'expect',
    'at',
    'batch',
  ],
  ...['coproc', 'mapfile', 'readarray', 'compgen', 'complete', 'hash', 'enable', 'bind', 'fc'],
  ...[
    'setarch',
    'linux32',
    'linux64',
    'i386',
    'x86_64',
    'uname26',
    'numactl',
    'start-stop-daemon',
    'run-parts',
  ],
  ...[
    'repeat',
    'noglob',
    'nocorrect',
    'proot',
    'firejail',
    'catchsegv',
    'choom',
    'uclampset',
    'chpst',
    'softlimit',
  ],
]);

/** The dynamic loader runs the program that it is given. */
const LOADER = /^ld(-[\w-]+)?(\.so|-[\d.]+\.so)/;

const isOpaque = (program: string): boolean => OPAQUE.has(program) || LOADER.test(program);

/** The word with a part that is known only at run time. */
function replaced(word: LenientWord, part: string): LenientWord {
  const at = word.text.indexOf(part);
  return at === -1 ? word : { ...word, known: word.known.slice(0, at) };
}

type Wrapped = {
  /** the words of the inner program; empty if there is none */
  readonly inner: readonly LenientWord[];
  /** a script that is run instead */
  readonly script: string | null;
  /** the words above may not be all that is run, or may begin elsewhere */
  readonly certain: boolean;
  readonly appends: boolean;
};

/** Null if the program does not run another one. */
function unwrap(program: string, words: readonly LenientWord[]): Wrapped | null {
  const wrapper = WRAPPERS.get(program);
  if (!wrapper) return null;
  const { options, operands = 0, assigns = false, tells, appends = false } = wrapper;
  let certain = true;
  let placeholder = '';
  let at = 0;
  for (let word = words[0]; word?.text.startsWith('-'); word = words[at]) {
    at++;
    if (word.text === '--') break;
    if (tells && optionLength(word.text, tells) > 0) return { inner: [], script: null, certain, appends };
    const length = lengthOf(program, word.text, options);
    const value = length === 2 ? words[at] : undefined;
    const script = scriptIn(wrapper, word, value);
    if (script) {
      const rest = words.slice(length === 2 ? at + 1 : at).map(({ text }) => text);
      // `env` has its own escapes, and the following words are not split.
      certain &&= !script.splits && rest.length === 0 && !/[\\$]/.test(script.text);
      return { inner: [], script: [script.text, ...rest].join(' '), certain, appends };
    }
    if (length === 0 || word.splits || value?.splits || hidesScript(wrapper, word)) certain = false;
    if (program === 'xargs' && /^-[^-]*I/.test(word.text)) {
      placeholder = value ? value.text : word.text.slice(2);
      certain &&= word.text.startsWith('-I');
    }
    if (length === 2) at++;
  }
  for (let left = operands; left > 0 && words[at]; left--) {
    certain &&= words[at]?.splits !== true;
    at++;
  }
  while (assigns && isAssignment(words[at]?.text ?? '')) at++;
  // An option after the operands, such as `flock file -c script`.
  if (operands > 0 && words[at]?.text.startsWith('-')) certain = false;
  const inner = words.slice(at).map((word) => (placeholder === '' ? word : replaced(word, placeholder)));
  return { inner, script: null, certain, appends };
}

/** A script option after other letters, as in `env -iS script`. */
const hidesScript = ({ script }: Wrapper, { text }: LenientWord): boolean =>
  /^-[^-]/.test(text) && [...(script ?? [])].some((name) => text.includes(name.slice(1)));

/** `nice -10` is an option that no table can list. */
const lengthOf = (program: string, word: string, options: OptionTable): 0 | 1 | 2 =>
  program === 'nice' && /^--?\d+$/.test(word) ? 1 : optionLength(word, options);

function scriptIn(
  { script }: Wrapper,
  word: LenientWord,
  value: LenientWord | undefined,
): LenientWord | null {
  for (const name of script ?? []) {
    if (word.text === name) return value ?? null;
    const attached = name.startsWith('--') ? `${name}=` : name;
    if (word.text.startsWith(attached)) return { ...word, text: word.text.slice(attached.length) };
  }
  return null;
}

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*\+?=/.test(word);

export type NormalForm = Required<Pick<RuleSubjects, 'normalised' | 'partial'>>;

/** Longer commands are matched literally and otherwise count as unknown. */
const MAX_COMMAND_LENGTH = 65_536;
const MAX_NESTING = 8;
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'ash', 'mksh', 'fish', 'rbash']);
const SHELL_OPTIONS = optionTable(
  '-a -b -e -f -h -i -k -l -m -n -p -r -s -t -u -v -x -B -C -E -H -P -T --login --norc --noprofile --posix --restricted --verbose --noediting',
  '-o -O +o +O --rcfile --init-file',
);
const KEYWORDS = new Set(['if', 'then', 'else', 'elif', 'fi', 'do', 'done', 'while', 'until', '!', '{', '}']);
/** These are followed by a name or a list of words, not by a program. */
const NAMING_KEYWORDS = new Set(['for', 'select', 'case', 'esac', '[[']);
const FIND_ACTIONS = new Set(['-exec', '-execdir', '-ok', '-okdir']);

export function normalForm(argv: readonly string[]): NormalForm {
  const found = new Found();
  const words = argv.map(fixedWord);
  if (argv.join(' ').length > MAX_COMMAND_LENGTH) {
    found.add(baseName(argv[0] ?? ''), words.slice(1));
    found.unknown();
  } else addCommand(found, words, 0);
  return { normalised: [...found.names], partial: [...found.partial] };
}

class Found {
  readonly names = new Set<string>();
  readonly partial = new Set<string>();

  add(program: string, words: readonly LenientWord[]): void {
    this.names.add([program, ...words.map(({ text }) => text)].join(' '));
    const open = words.findIndex(isOpen);
    if (open === -1) return;
    const before = words.slice(0, open).map(({ text }) => text);
    this.partial.add([program, ...before, words[open]?.known ?? ''].join(' '));
  }

  /** A command of which only the beginning is known. */
  unknown(beginning = ''): void {
    this.partial.add(beginning);
  }
}

function addScript(found: Found, script: string, depth: number): void {
  const { commands, readable } = depth > MAX_NESTING ? UNREAD : readLeniently(script);
  if (!readable) found.unknown();
  for (const command of commands) addCommand(found, withoutKeywords(command), depth);
}

const UNREAD = { commands: [], readable: false };

function withoutKeywords(words: readonly LenientWord[]): readonly LenientWord[] {
  let at = 0;
  for (let word = words[0]; word; word = words[at]) {
    if (KEYWORDS.has(word.text)) at++;
    else if (word.text === 'function') at += 2;
    else if (NAMING_KEYWORDS.has(word.text)) {
      // `for x do command`
      const body = words.findIndex(({ text }, place) => place > at && (text === 'do' || text === '{'));
      if (body === -1) return [];
      at = body;
    } else break;
  }
  return words.slice(at);
}

function addCommand(found: Found, all: readonly LenientWord[], depth: number): void {
  const start = all.findIndex(({ text }) => !isAssignment(text));
  const [program, ...words] = start === -1 ? [] : all.slice(start);
  if (!program) return;
  const name = baseName(program.text);
  found.add(name, words);
  if (isOpen(program) || isOpaque(name) || depth > MAX_NESTING) found.unknown();
  else if (SHELLS.has(name)) addShell(found, words, depth + 1);
  else if (name === 'eval') addEvaluated(found, words, depth + 1);
  else addProgram(found, { name, words }, depth);
}

type NamedCommand = { readonly name: string; readonly words: readonly LenientWord[] };

function addProgram(found: Found, { name, words }: NamedCommand, depth: number): void {
  const wrapped = unwrap(name, words);
  if (wrapped) addWrapped(found, wrapped, depth + 1);
  else addReadings(found, name, words);
  if (name === 'find') addFindActions(found, words, depth + 1);
  if (name.startsWith('git-')) addReadings(found, 'git', [fixedWord(name.slice('git-'.length)), ...words]);
}

function addWrapped(found: Found, { inner, script, certain, appends }: Wrapped, depth: number): void {
  if (!certain) found.unknown();
  if (script !== null) addScript(found, script, depth);
  // `xargs` appends words from elsewhere.
  const appended = appends ? [{ text: '$', known: '', splits: true }] : [];
  // `time` is a keyword itself, others can follow it.
  const command = withoutKeywords(inner);
  if (command.length > 0) addCommand(found, [...command, ...appended], depth);
}

function addReadings(found: Found, program: string, words: readonly LenientWord[]): void {
  for (const reading of readings(program, words)) {
    found.add(program, reading.words);
    if (reading.alias) found.unknown(`${program} `);
    if (reading.runs) found.unknown();
  }
}

/** `bash -c <script>`. Without a script it runs a file or its input, which can be anything. */
function addShell(found: Found, words: readonly LenientWord[], depth: number): void {
  const script = scriptOf(words);
  if (script) addScript(found, script.text, depth);
  if (!script || isOpen(script)) found.unknown();
}

function scriptOf(words: readonly LenientWord[]): LenientWord | null {
  let at = 0;
  let given = false;
  for (let word = words[0]; word && /^[-+]/.test(word.text) && !isOpen(word); word = words[at]) {
    at++;
    if (word.text === '-' || word.text === '--') break;
    const letters = word.text.startsWith('--') ? null : word.text.slice(1);
    if (letters && word.text.startsWith('-') && letters.includes('c')) given = true;
    const option = letters === null ? word.text : `${word.text.charAt(0)}${letters.replaceAll('c', '')}`;
    if (option === '-') continue;
    const length = optionLength(option, SHELL_OPTIONS);
    // A shell takes the value of `-o` from the next word, also if letters follow it.
    if (length === 0 || /^[-+]\w*[oO]\w/.test(option)) return null;
    at += length - 1;
  }
  return given ? (words[at] ?? null) : null;
}

function addEvaluated(found: Found, words: readonly LenientWord[], depth: number): void {
  if (words.some(isOpen)) found.unknown();
  const script = words[0]?.text === '--' ? words.slice(1) : words;
  addScript(found, script.map(({ text }) => text).join(' '), depth);
}

/** The words from `-exec` to `;` or `{} +` are a command, in which `{}` stands for a path. */
function addFindActions(found: Found, words: readonly LenientWord[], depth: number): void {
  let action: LenientWord[] | null = null;
  for (const word of words) {
    if (action === null) action = FIND_ACTIONS.has(word.text) ? [] : null;
    else if (word.text !== ';' && !(word.text === '+' && action.at(-1)?.text === '{}'))
      action.push(replaced(word, '{}'));
    else {
      addCommand(found, action, depth);
      action = null;
    }
  }
  if (action) addCommand(found, action, depth);
}

const baseName = (program: string): string => program.slice(program.lastIndexOf('/') + 1);

// Programs whose subcommand can follow options, or has several spellings.

/** A way to read the words after the program. */
type Reading = {
  readonly words: readonly LenientWord[];
  /** the subcommand may be an alias */
  readonly alias?: boolean;
  /** it may run any other command */
  readonly runs?: boolean;
};

/** The words after a program as rules name them: without the options before the subcommand. */
function readings(program: string, words: readonly LenientWord[]): readonly Reading[] {
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
