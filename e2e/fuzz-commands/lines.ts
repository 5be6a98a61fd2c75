/**
 * Generates command lines that mix harmless words with escapes: links, globs, options, substitutions, `cd` and
 * nested repositories.
 */
import type { RandomSource } from '../fuzz/random.ts';
import { PROGRAMS } from './programs.ts';
import { CODE, FOLDERS, GLOBS, INSIDE, OPERATORS, OTHERS, OUTSIDE } from './words.ts';

export type Line = { readonly command: string[]; readonly workdir?: string; readonly timeout: number };

export function lineFrom(chance: RandomSource): Line {
  const script = scriptFrom(chance);
  const workdir = chance.below(8) === 0 ? { workdir: chance.pick(FOLDERS).replace('-- ', '') } : {};
  if (chance.below(6) === 0) {
    const words = script.split(/[\s|;&]+/).filter((word) => word !== '');
    if (words.length > 0) return { command: words.slice(0, 8), timeout: 1_000, ...workdir };
  }
  const shell = chance.pick(['bash', 'bash', 'sh']);
  return {
    command: [shell, chance.pick(['-lc', '-c', '-lc', '-c', '-ec']), script],
    timeout: 1_000,
    ...workdir,
  };
}

function scriptFrom(chance: RandomSource): string {
  let script = stepFrom(chance);
  for (let more = chance.below(3); more > 0; more--)
    script +=
      OPERATORS[Math.min(chance.below(OPERATORS.length), chance.below(OPERATORS.length))] + stepFrom(chance);
  return chance.below(15) === 0 ? damaged(script, chance) : script;
}

function stepFrom(chance: RandomSource): string {
  const roll = chance.below(100);
  if (roll < 22)
    return `cd ${FOLDERS[Math.min(chance.below(FOLDERS.length), chance.below(FOLDERS.length))]}`.trimEnd();
  if (roll < 24) return `${chance.pick(OTHERS)} ${wordFrom(chance)}`;
  const names = Object.keys(PROGRAMS) as [string, ...string[]];
  const name = chance.below(4) === 0 ? 'git' : chance.pick(names);
  const program = PROGRAMS[name];
  if (!program) return name;
  const words = [name];
  for (let more = name === 'git' || name === 'sed' ? 1 : chance.below(3); more > 0; more--)
    words.push(
      chance.below(program.follows ? 3 : 6) === 0 ? chance.pick(program.doubtful) : chance.pick(program.fine),
    );
  if (program.pattern && chance.below(8) > 0) words.push(chance.pick(program.pattern));
  for (let more = chance.below(3); more > 0; more--) words.push(wordFrom(chance));
  // find expects folders before options.
  if (name === 'find' && words.length > 2 && chance.below(4) > 0) words.splice(1, 0, words.pop() ?? '.');
  return words.join(' ');
}

function wordFrom(chance: RandomSource): string {
  const roll = chance.below(100);
  if (roll < 60) return chance.pick(INSIDE);
  if (roll < 78) return chance.pick(GLOBS);
  return roll < 97 ? chance.pick(OUTSIDE) : chance.pick(CODE);
}

/** Removes, replaces or inserts a character: quotes and escapes at unusual positions. */
function damaged(script: string, chance: RandomSource): string {
  const at = chance.below(script.length);
  const put = chance.pick([
    "'",
    '"',
    '\\',
    ' ',
    '*',
    '\t',
    '/',
    '-',
    '~',
    '=',
    '$',
    '\u00a0',
    '\u0007',
    '..',
    '',
  ]);
  return script.slice(0, at) + put + script.slice(at + chance.below(2));
}
