/** Programs that run another program, and where its words begin. */
import type { LenientWord } from './lenient-script.ts';
import { type OptionTable, optionLength, optionTable } from './options.ts';

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

export const isOpaque = (program: string): boolean => OPAQUE.has(program) || LOADER.test(program);

/** The word with a part that is known only at run time. */
export function replaced(word: LenientWord, part: string): LenientWord {
  const at = word.text.indexOf(part);
  return at === -1 ? word : { ...word, known: word.known.slice(0, at) };
}

export type Wrapped = {
  /** the words of the inner program; empty if there is none */
  readonly inner: readonly LenientWord[];
  /** a script that is run instead */
  readonly script: string | null;
  /** the words above may not be all that is run, or may begin elsewhere */
  readonly certain: boolean;
  readonly appends: boolean;
};

/** Null if the program does not run another one. */
export function unwrap(program: string, words: readonly LenientWord[]): Wrapped | null {
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

export const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*\+?=/.test(word);
