/** Explains a command in plain sentences. */
import { isScript, splitWords } from '../command-line.ts';
import { code } from '../text/quote.ts';
import type { Program } from './program.ts';
import { programOf } from './programs.ts';
import { partsOf } from './script.ts';

const MOST_PARTS = 12;

export function explainCommand(command: readonly string[]): string {
  if (isScript(command)) return explainScript(command[2] ?? '');
  const [first = '', ...rest] = command;
  if (first === '') return 'The command is empty: it does nothing.';
  if (/^\w+=/.test(first)) return `It sets ${code(first)} for what follows. ${explainCommand(rest)}`;
  if (first === 'sudo' || first === 'doas') {
    return `It runs what follows with the rights of the administrator. ${explainCommand(rest.filter((word) => !word.startsWith('-')))}`;
  }
  if (['env', 'nohup', 'time', 'nice'].includes(first)) return explainCommand(rest);
  const program = programOf(first);
  return program ? explainProgram(first, program, rest) : unknown(first, rest);
}

export function explainScript(script: string): string {
  const parts = partsOf(script);
  const only = parts[0];
  if (parts.length === 0 || !only) return 'The script is empty: it does nothing.';
  const sentences = parts
    .slice(0, MOST_PARTS)
    .map(({ text, link }) => `${OPENING[link]}${explainPart(text)}`);
  const more = parts.length - MOST_PARTS;
  const left = more > 0 ? [`${more} further parts are not explained here.`] : [];
  if (parts.length === 1) return sentences.join(' ');
  const count = `This is a shell script of ${parts.length} parts.`;
  const piped = /\b(?:curl|wget)\b[^;&]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b/.test(script);
  const danger = piped ? ['Take care: it runs whatever the network address sends.'] : [];
  return [count, ...sentences, ...left, ...danger].join(' ');
}

const OPENING = {
  first: '',
  and: 'If that works: ',
  or: 'If that fails: ',
  pipe: 'What it prints goes to the next part: ',
  next: 'Then: ',
  background: 'Meanwhile: ',
} as const;

const REDIRECTION = /(?<![<>])(?:\d|&)?(>>|>|<)(?![<>&(])\s*("[^"]*"|'[^']*'|[^\s<>|;&]+)/g;

function explainPart(text: string): string {
  const redirections: string[] = [];
  const bare = text.replace(REDIRECTION, (_, sign: string, target: string) => {
    if (target !== '/dev/null') redirections.push(redirected(sign, target));
    return ' ';
  });
  const words = splitWords(bare.replace(/\d?>&\d/g, ' ')) ?? bare.split(/\s+/);
  return [explainCommand(words.filter((word) => word !== '')), ...redirections].join(' ');
}

function redirected(sign: string, target: string): string {
  if (sign === '<') return `It reads from ${code(target)}.`;
  return sign === '>>'
    ? `What it prints is added to ${code(target)}.`
    : `What it prints replaces the contents of ${code(target)}.`;
}

function explainProgram(name: string, program: Program, words: readonly string[]): string {
  const verb = words.find((word) => !word.startsWith('-')) ?? '';
  const known = program.subcommands && Object.hasOwn(program.subcommands, verb);
  const does = known ? program.subcommands?.[verb] : program.does;
  const title = known ? `${name} ${verb}` : name;
  const others = known ? words.toSpliced(words.indexOf(verb), 1) : words;
  const flags = others.filter((word) => word.startsWith('-') && word.length > 1);
  const targets = others.filter((word) => !word.startsWith('-') || word === '-');
  return [
    `${code(title)} ${does}.`,
    flagSentence(program, flags),
    targetSentence(program, targets),
    program.caution ?? '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function flagSentence(program: Program, words: readonly string[]): string {
  const meanings: string[] = [];
  const unknownFlags: string[] = [];
  for (const word of words) {
    const whole =
      meaning(program, word) ?? meaning(program, word.split('=')[0] ?? '') ?? meaning(program, word.slice(1));
    const letters = word.startsWith('--') ? [] : [...word.slice(1)];
    const each = letters.flatMap((letter) => {
      const found = meaning(program, letter);
      return found ? [`with -${letter} it ${found}`] : [];
    });
    if (whole) meanings.push(`with ${word} it ${whole}`);
    else if (each.length > 0) meanings.push(...each);
    else unknownFlags.push(code(word));
  }
  const said = meanings.length > 0 ? `${capital([...new Set(meanings)].join(', '))}.` : '';
  const not = unknownFlags.length > 0 ? `I do not know what ${unknownFlags.join(', ')} means here.` : '';
  return [said, not].filter((sentence) => sentence !== '').join(' ');
}

const meaning = (program: Program, flag: string): string | undefined =>
  program.flags && Object.hasOwn(program.flags, flag) ? program.flags[flag] : undefined;

function targetSentence(program: Program, targets: readonly string[]): string {
  if (targets.length === 0) return '';
  const wide =
    targets.some((target) => ['/', '/*', '~', '*', '.'].includes(target)) && program.caution !== undefined;
  const named = targets
    .slice(0, 6)
    .map((target) => code(target))
    .join(', ');
  const more = targets.length > 6 ? ` and ${targets.length - 6} more` : '';
  return `${program.targets ?? 'It is given'} ${named}${more}.${wide ? ' That reaches very far.' : ''}`;
}

function unknown(name: string, words: readonly string[]): string {
  const given =
    words.length > 0
      ? ` It is given ${words
          .slice(0, 6)
          .map((word) => code(word))
          .join(', ')}.`
      : '';
  return `I do not know the program ${code(name)}, so I cannot say what it does.${given} Look at its documentation before you allow it.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
