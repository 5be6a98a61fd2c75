/** Explains a command or a patch in plain sentences. The text contains an argv as JSON, a patch, or a command line. */
import { parsedJson } from '@parlance/protocol';
import { patchedFiles } from '@parlance/protocol/patch';
import { isScript, splitWords } from './command-line.ts';
import { code } from './text.ts';

/** Completes "`name` …". A program with subcommands has one entry for each. */
const PROGRAMS = new Map(
  Object.entries({
    cat: 'prints files; it changes nothing',
    chmod: 'changes who may read, write or run files',
    cp: 'copies files',
    curl: 'requests an address on the network',
    echo: 'prints its words; it changes nothing',
    find: 'looks for files',
    git: 'works on the version history',
    'git add': 'marks changes for the next commit',
    'git checkout': 'switches to another branch, or restores files',
    'git commit': 'records the marked changes',
    'git diff': 'shows the changes line by line; it changes nothing',
    'git log': 'shows the history; it changes nothing',
    'git push': 'sends commits to another repository',
    'git rebase': 'writes commits anew on top of another one; it changes the history',
    'git reset': 'moves the branch to another commit; it may discard changes',
    'git status': 'shows what has changed; it changes nothing',
    grep: 'looks for text in files; it changes nothing',
    ls: 'lists files; it changes nothing',
    mkdir: 'makes folders',
    mv: 'moves or renames files, and replaces what has the new name',
    node: 'runs a JavaScript program',
    npm: 'manages JavaScript packages',
    'npm install': 'downloads packages and installs them; their install scripts may run',
    'npm run': 'runs a script that package.json names',
    'npm test': 'runs the tests of the project',
    pwd: 'prints the current folder; it changes nothing',
    python: 'runs a Python program',
    save_file: 'writes text to a file',
    rm: 'deletes files; what is deleted cannot be brought back',
    touch: 'makes empty files, or renews the time of those that exist',
  }),
);

const MAX_SCRIPT_LENGTH = 20_000;
const MAX_PARTS = 12;

export const isKnownProgram = (command: string): boolean => PROGRAMS.has(command.split(/\s+/)[0] ?? '');

export function explain(text: string): string {
  const command = argvIn(text);
  const patch = (command ?? [text]).find((word) => word.includes('*** Begin Patch'));
  if (patch) return explainPatch(patch);
  if (command) return isScript(command) ? explainScript(command[2] ?? '') : explainCommand(command);
  return explainScript(text.trim().slice(0, MAX_SCRIPT_LENGTH));
}

/** Text around the array is ignored. */
function argvIn(text: string): string[] | null {
  const value = parsedJson(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1));
  return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : null;
}

function explainScript(script: string): string {
  const parts = script.split(/\s*(?:&&|\|\||[|;&\n])\s*/).filter((part) => part.trim() !== '');
  if (parts.length === 0) return 'There is nothing to explain.';
  const sentences = parts
    .slice(0, MAX_PARTS)
    .map((part) => explainCommand(splitWords(part) ?? part.split(/\s+/)));
  const count = parts.length === 1 ? [] : [`This is a shell script of ${parts.length} parts.`];
  return [...count, ...sentences].join(' ');
}

function explainCommand([program = '', ...words]: readonly string[]): string {
  const name = program.slice(program.lastIndexOf('/') + 1);
  const verb = words.find((word) => !word.startsWith('-'));
  const title = [`${name} ${verb}`, name].find((each) => PROGRAMS.has(each));
  if (!title)
    return `I do not know the program ${code(name)}, so I cannot say what it does. Look at its documentation before you allow it.`;
  const others = title === name ? words : words.filter((word) => word !== verb);
  const given = others.slice(0, 6).map((word) => code(word));
  return `${code(title)} ${PROGRAMS.get(title)}.${given.length === 0 ? '' : ` It is given ${given.join(', ')}.`}`;
}

const CHANGES = { add: 'adds', update: 'changes', delete: 'deletes' } as const;

function explainPatch(patch: string): string {
  const files = patchedFiles(patch);
  const known = files.flatMap(({ change, path }) =>
    change === 'unknown' ? [] : [`${CHANGES[change]} ${code(path)}`],
  );
  if (known.length === 0) return 'The patch names no file: it changes nothing.';
  const lines = files.flatMap((file) => file.lines);
  const count = (kind: 'add' | 'remove') => lines.filter((line) => line.kind === kind).length;
  const added = count('add');
  return `The patch ${known.slice(0, MAX_PARTS).join(', ')}: ${added} ${added === 1 ? 'line' : 'lines'} added, ${count('remove')} removed.`;
}
