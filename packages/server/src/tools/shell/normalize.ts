/**
 * What rules see of a command. For rules that deny, it is normalised: programs by base name, without wrapper programs,
 * assignments and options before the subcommand, and with every command of a script or a nested script. Rules that allow see
 * its literal words.
 */
import type { RuleSubjects } from '../../core/ports/tool.ts';
import { isOption, type OptionTable, optionLength, optionTable, wordSet } from './options.ts';
import { commandsOf, isOpen, plainWord, readScript, type Word } from './script.ts';

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
  readonly script?: readonly string[];
  /** it appends its own words */
  readonly appends?: boolean;
};

const wrapper = (options = '', more: Omit<Wrapper, 'options'> = {}): Wrapper => ({
  options: optionTable(options),
  ...more,
});

const WRAPPERS = new Map(
  Object.entries({
    env: wrapper(
      '-[i0v] --ignore-environment --null --debug -[uCaS]= --unset= --chdir= --argv0= --split-string=',
      { assigns: true, script: ['-S', '--split-string'] },
    ),
    nice: wrapper('--?\\d+ -[n]= --adjustment='),
    timeout: wrapper('-[fpv] --foreground --preserve-status --verbose -[sk]= --signal= --kill-after=', {
      operands: 1,
    }),
    command: wrapper('-[p]', { tells: optionTable('-[vV]') }),
    builtin: wrapper(),
    nohup: wrapper(),
    exec: wrapper('-[cl] -[a]='),
    time: wrapper('-[pvaq] --portability --verbose --append -[fo]= --format= --output='),
    stdbuf: wrapper('-[ioe]= --input= --output= --error='),
    setsid: wrapper('-[cfw] --ctty --fork --wait'),
    ionice: wrapper('-[t] --ignore -[cn]= --class= --classdata='),
    chrt: wrapper('-[abdfiorR]', { operands: 1 }),
    taskset: wrapper('-[ac] --all-tasks --cpu-list', { operands: 1 }),
    flock: wrapper(
      `-[exsnouFv] --exclusive --shared --nonblock --close --unlock --no-fork --verbose -[wE]= --timeout=
      --conflict-exit-code=`,
      { operands: 1 },
    ),
    sudo: wrapper(
      `-[AbBEHiknNPSs] --askpass --background --preserve-env --set-home --login --non-interactive --stdin --shell
      -[ughpCDRTrtc]= --user= --group= --host= --prompt= --close-from= --chdir= --chroot= --command-timeout= --role=
      --type=`,
      { assigns: true },
    ),
    doas: wrapper('-[ns] -[uCa]='),
    xargs: wrapper(
      `-[0rtpxo] --null --no-run-if-empty --verbose --interactive --exit --open-tty -[InPLdaEs]= --max-args= --max-procs=
      --delimiter= --arg-file= --max-chars=`,
      { appends: true },
    ),
    busybox: wrapper(),
    fakeroot: wrapper(),
  }),
);

/** What these run cannot be read from their words. */
const OPAQUE =
  wordSet(`. source alias trap su runuser ssh script parallel watch chroot unshare nsenter bwrap strace ltrace
  systemd-run setpriv prlimit unbuffer expect at batch coproc mapfile readarray compgen complete hash enable bind fc setarch
  linux32 linux64 i386 x86_64 uname26 numactl start-stop-daemon run-parts repeat noglob nocorrect proot firejail catchsegv
  choom uclampset chpst softlimit`);

/** The dynamic loader runs the program that it is given. */
const LOADER = /^ld(-[\w-]+)?(\.so|-[\d.]+\.so)/;

const isOpaque = (program: string): boolean => OPAQUE.has(program) || LOADER.test(program);

/** The word with a part that is known only at run time. */
function replaced(word: Word, part: string): Word {
  const at = word.text.indexOf(part);
  return at === -1 ? word : { ...word, known: word.known.slice(0, at) };
}

type Wrapped = {
  /** the words of the inner program; empty if there is none */
  readonly inner: readonly Word[];
  /** a script that is run instead */
  readonly script: string | null;
  /** the words above may not be all that is run, or may begin elsewhere */
  readonly certain: boolean;
  readonly appends: boolean;
};

/** Null if the program does not run another one. */
function unwrap(program: string, words: readonly Word[]): Wrapped | null {
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
    const length = optionLength(word.text, options);
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
const hidesScript = ({ script }: Wrapper, { text }: Word): boolean =>
  /^-[^-]/.test(text) && (script ?? []).some((name) => text.includes(name.slice(1)));

function scriptIn({ script }: Wrapper, word: Word, value: Word | undefined): Word | null {
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
const SHELLS = wordSet('bash sh zsh dash ksh ash mksh fish rbash');
const SHELL_OPTIONS = optionTable(
  `-[abefhiklmnprstuvxBCEHPT] --login --norc --noprofile --posix --restricted --verbose --noediting -[oO]= --rcfile=
  --init-file=`,
);
const KEYWORDS = wordSet('if then else elif fi do done while until ! { }');
/** These are followed by a name or a list of words, not by a program. */
const NAMING_KEYWORDS = wordSet('for select case esac [[');
const FIND_ACTIONS = wordSet('-exec -execdir -ok -okdir');

export function normalForm(argv: readonly string[]): NormalForm {
  const found = new Found();
  const words = argv.map(plainWord);
  if (argv.join(' ').length > MAX_COMMAND_LENGTH) {
    found.add(baseName(argv[0] ?? ''), words.slice(1));
    found.unknown();
  } else addCommand(found, words, 0);
  return { normalised: [...found.names], partial: [...found.partial] };
}

class Found {
  readonly names = new Set<string>();
  readonly partial = new Set<string>();

  add(program: string, words: readonly Word[]): void {
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
  const { commands, readable } = depth > MAX_NESTING ? UNREAD : readScript(script);
  if (!readable) found.unknown();
  for (const command of commands) addCommand(found, withoutKeywords(command), depth);
}

const UNREAD = { commands: [], readable: false };

function withoutKeywords(words: readonly Word[]): readonly Word[] {
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

function addCommand(found: Found, all: readonly Word[], depth: number): void {
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

type NamedCommand = { readonly name: string; readonly words: readonly Word[] };

function addProgram(found: Found, { name, words }: NamedCommand, depth: number): void {
  const wrapped = unwrap(name, words);
  if (wrapped) addWrapped(found, wrapped, depth + 1);
  else addReadings(found, name, words);
  if (name === 'find') addFindActions(found, words, depth + 1);
  if (name.startsWith('git-')) addReadings(found, 'git', [plainWord(name.slice('git-'.length)), ...words]);
}

function addWrapped(found: Found, { inner, script, certain, appends }: Wrapped, depth: number): void {
  if (!certain) found.unknown();
  if (script !== null) addScript(found, script, depth);
  // `xargs` appends words from elsewhere.
  const appended = appends ? [{ ...plainWord('$'), known: '', splits: true }] : [];
  // `time` is a keyword itself, others can follow it.
  const command = withoutKeywords(inner);
  if (command.length > 0) addCommand(found, [...command, ...appended], depth);
}

function addReadings(found: Found, program: string, words: readonly Word[]): void {
  for (const reading of readings(program, words)) {
    found.add(program, reading.words);
    if (reading.alias) found.unknown(`${program} `);
    if (reading.runs) found.unknown();
  }
}

/** `bash -c <script>`. Without a script it runs a file or its input, which can be anything. */
function addShell(found: Found, words: readonly Word[], depth: number): void {
  const script = scriptOf(words);
  if (script) addScript(found, script.text, depth);
  if (!script || isOpen(script)) found.unknown();
}

function scriptOf(words: readonly Word[]): Word | null {
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

function addEvaluated(found: Found, words: readonly Word[], depth: number): void {
  if (words.some(isOpen)) found.unknown();
  const script = words[0]?.text === '--' ? words.slice(1) : words;
  addScript(found, script.map(({ text }) => text).join(' '), depth);
}

/** The words from `-exec` to `;` or `{} +` are a command, in which `{}` stands for a path. */
function addFindActions(found: Found, words: readonly Word[], depth: number): void {
  let action: Word[] | null = null;
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
  readonly words: readonly Word[];
  /** the subcommand may be an alias */
  readonly alias?: boolean;
  /** it may run any other command */
  readonly runs?: boolean;
};

/** The words after a program as rules name them: without the options before the subcommand. */
function readings(program: string, words: readonly Word[]): readonly Reading[] {
  if (program === 'git') return gitReadings(words);
  const found = subcommandReadings(words);
  return program === 'npm' ? found.flatMap(npmReadings) : found;
}

const GIT_OPTIONS = optionTable(
  `-[pPhv] --paginate --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs
  --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path --man-path --info-path --version --help
  -[Cc]= --git-dir= --work-tree= --namespace= --exec-path[=] --config-env= --super-prefix= --attr-source= --list-cmds=`,
);

/** An alias cannot replace a built-in git command; any other word may be an alias. */
const GIT_COMMANDS = wordSet(
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
  upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree`,
);

function gitReadings(words: readonly Word[]): readonly Reading[] {
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

const isOpenAlias = (subcommand: Word): boolean => !isOpen(subcommand) && !GIT_COMMANDS.has(subcommand.text);

/** git commands that run others, or whose settings name them. */
const GIT_RUNNERS = wordSet(
  `citool daemon difftool filter-branch for-each-repo gui hook instaweb merge-index mergetool quiltimport
  send-email`,
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

function runsCommands(subcommand: string, words: readonly Word[]): boolean {
  if (subcommand === 'config') return words.length > 1 && !READS_CONFIG.test(words[0]?.text ?? '');
  const runs = GIT_RUNS.get(subcommand);
  return GIT_RUNNERS.has(subcommand) || (runs !== undefined && words.some(({ text }) => runs.test(text)));
}

const MAX_READINGS = 16;

/** For an unknown program, the word after an option is its value or the subcommand: both readings are returned. */
function subcommandReadings(words: readonly Word[]): readonly Reading[] {
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

const NPM_ALIASES = new Map(
  Object.entries({
    install: 'i in ins inst insta instal isnt isnta isntal isntall add',
    uninstall: 'un unlink remove rm r',
    ci: 'clean-install ic install-clean isntall-clean',
    run: 'run-script rum urn',
    test: 't tst',
    update: 'up upgrade udpate',
    exec: 'x',
    config: 'c',
    search: 's se find',
    link: 'ln',
    init: 'create innit',
    owner: 'author',
    'dist-tag': 'dist-tags',
  }).flatMap(([command, aliases]) => aliases.split(' ').map((alias): [string, string] => [alias, command])),
);

/** npm accepts any unambiguous prefix of a command. */
function npmReadings(reading: Reading): readonly Reading[] {
  const [first, ...rest] = reading.words;
  if (!first || first.text === '' || NPM_COMMANDS.includes(first.text)) return [reading];
  const alias = NPM_ALIASES.get(first.text);
  const meant =
    alias === undefined ? NPM_COMMANDS.filter((command) => command.startsWith(first.text)) : [alias];
  return [reading, ...meant.map((text) => ({ words: [{ ...first, text, known: text }, ...rest] }))];
}

// Literal commands, for rules that allow.

/** Programs that run another program, which the line does not show. */
const HIDING = wordSet('env xargs sudo doas nohup timeout nice time command exec eval ssh bash sh');

/** The simple commands as lines, as the operator's rules name them; null if they are unknown. */
export function commandSubjects(argv: readonly string[]): string[] | null {
  const commands = commandsOf(argv);
  const hidden = commands?.some(
    ([program]) => !program || program.glob || HIDING.has(baseName(program.text)),
  );
  if (!commands || hidden) return null;
  return commands.map((words) => words.map((word) => word.text).join(' '));
}

/** Writes settings, and runs no program: an editor, a fetch or a hook of the repository could do so. */
const SETTINGS: ReadonlyMap<string, (words: readonly string[]) => boolean> = new Map([
  ['config', (words) => words[0] !== 'edit' && !words.some((word) => /^-(?:[^-]*e|-e)/.test(word))],
  [
    'remote',
    ([verb = '', ...words]) =>
      /^(?:add|remove|rm|rename|set-branches|set-url)$/.test(verb) &&
      !words.some((word) => /^-(?:[^-]*f|-f)/.test(word)),
  ],
]);

/** Whether the command does nothing but change git's settings with `git config` and `git remote`. */
export const writesGitSettings = (argv: readonly string[]): boolean =>
  commandsOf(argv)?.every((words) => {
    const [program, subcommand = '', ...rest] = words.map(({ text }) => text);
    return (
      program === 'git' && !words.some(({ glob }) => glob) && (SETTINGS.get(subcommand)?.(rest) ?? false)
    );
  }) ?? false;
