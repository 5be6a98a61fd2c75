/** Commands that only look: they run unasked. Judged by parsing; whatever is in doubt is not known to be safe. */
import { gitOnlyReads } from './git.ts';
import { parseScript, plainWord, type Word } from './script.ts';

type Rule = (words: readonly string[]) => boolean;

const anything: Rule = () => true;

const FIND_ACTIONS = /^-(exec|execdir|ok|okdir|delete|fls|fprint.*)$/;
/** They run a program for each file, or to name the host. */
const RIPGREP_PROGRAMS = /^(--pre(=.*)?|--hostname-bin(=.*)?|--search-zip|-[a-zA-Z0-9.]*z.*)$/;

const KNOWN_SAFE = new Map<string, Rule>([
  ...['cd', 'ls', 'pwd', 'true', 'echo', 'cat', 'nl', 'grep', 'head', 'tail', 'wc', 'which'].map(
    (program): [string, Rule] => [program, anything],
  ),
  ['rg', (words) => !words.some((word) => RIPGREP_PROGRAMS.test(word))],
  ['find', (words) => !words.some((word) => FIND_ACTIONS.test(word))],
  ['git', gitOnlyReads],
  ['sed', printsLines],
]);
/** An option of these can do harm, and the name of a file can look like an option. */
const OPTIONS_MATTER = new Set(['rg', 'find', 'git', 'sed']);

const SHELLS = new Set(['bash', 'sh']);

/** The simple commands that `argv` runs: itself, or those of the script it gives to a shell. Null: cannot be told. */
export function commandsOf(argv: readonly string[]): Word[][] | null {
  const script = scriptOf(argv);
  return script === null ? [argv.map(plainWord)] : parseScript(script);
}

/** The script of `bash -lc <script>` and its like. */
export function scriptOf(argv: readonly string[]): string | null {
  const [program, option, script] = argv;
  if (argv.length !== 3 || script === undefined || !SHELLS.has(program ?? '')) return null;
  return option === '-c' || option === '-lc' ? script : null;
}

/** Programs that run another program: what that does is not told by the line. */
const WRAPPERS = new Set([
  'env',
  'xargs',
  'sudo',
  'doas',
  'nohup',
  'timeout',
  'nice',
  'time',
  'command',
  'exec',
  'eval',
  'ssh',
]);

/** The simple commands as lines, as the operator's rules name them; null where it cannot be told what would run. */
export function commandSubjects(argv: readonly string[]): string[] | null {
  const commands = commandsOf(argv);
  const hidden = commands?.some(
    ([program]) => program === undefined || program.wild || isWrapper(program.text),
  );
  if (!commands || hidden) return null;
  return commands.map((words) => words.map((word) => word.text).join(' '));
}

const isWrapper = (program: string): boolean => {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return WRAPPERS.has(name) || SHELLS.has(name);
};

export function isKnownSafe(argv: readonly string[]): boolean {
  const commands = commandsOf(argv);
  return commands !== null && commands.length > 0 && commands.every(commandIsSafe);
}

function commandIsSafe([program, ...words]: readonly Word[]): boolean {
  if (!program || program.glob) return false;
  const rule = KNOWN_SAFE.get(program.text);
  if (!rule?.(words.map((word) => word.text))) return false;
  return !OPTIONS_MATTER.has(program.text) || !words.some((word) => word.wild);
}

/** `sed -n N[,M]p` and names of files. sed also takes options after them. */
function printsLines([quiet, expression, ...files]: readonly string[]): boolean {
  if (quiet !== '-n' || !/^\d+(,\d+)?p$/.test(expression ?? '')) return false;
  return files.every((file) => !file.startsWith('-'));
}
