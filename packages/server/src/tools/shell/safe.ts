/** Splits a command line into simple commands. */
import { parseScript, plainWord, type Word } from './script.ts';

const SHELLS = new Set(['bash', 'sh']);

/** The simple commands that `argv` runs: itself, or those of the script for a shell. Null: unknown. */
export function commandsOf(argv: readonly string[]): Word[][] | null {
  const script = scriptOf(argv);
  return script === null ? [argv.map(plainWord)] : parseScript(script);
}

/** The script of `bash -lc <script>` and similar. */
export function scriptOf(argv: readonly string[]): string | null {
  const [program, option, script] = argv;
  if (argv.length !== 3 || script === undefined || !SHELLS.has(program ?? '')) return null;
  return option === '-c' || option === '-lc' ? script : null;
}

/** Programs that run another program, which the line does not show. */
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

/** The simple commands as lines, as the operator's rules name them; null if they are unknown. */
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
      program === 'git' && !words.some(({ wild }) => wild) && (SETTINGS.get(subcommand)?.(rest) ?? false)
    );
  }) ?? false;
