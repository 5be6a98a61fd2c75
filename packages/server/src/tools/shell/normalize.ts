/**
 * Normalizes a command for rules that deny: programs by base name, without wrapper programs, assignments and options before
 * the subcommand, and with every command of a script or a nested script.
 */
import type { RuleSubjects } from '../../core/ports/tool.ts';
import { fixedWord, isOpen, type LenientWord, readLeniently } from './lenient-script.ts';
import { optionLength, optionTable } from './options.ts';
import { readings } from './subcommands.ts';
import { isAssignment, isOpaque, replaced, unwrap, type Wrapped } from './wrappers.ts';

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
