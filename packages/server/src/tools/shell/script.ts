/** Splits a shell script into simple commands, where it is made of nothing else. */

export type Word = {
  readonly text: string;
  /** the shell would replace the word by names of files that may begin with a dash */
  readonly wild: boolean;
  /** the word holds an unquoted * ? or [ */
  readonly glob: boolean;
  /** the text as a pattern: quoted characters that would mean something in it have a backslash before them */
  readonly pattern: string;
  /** the shell would put a home folder in */
  readonly tilde: boolean;
};

export const plainWord = (text: string): Word => ({
  text,
  wild: false,
  glob: false,
  pattern: escaped(text),
  tilde: false,
});

const escaped = (text: string): string => text.replace(/[*?[\]\\]/g, '\\$&');

const OPERATORS = ['&&', '||', '|', ';'] as const;
export type Operator = (typeof OPERATORS)[number];

/** A simple command, and what joins it to the one before; the first has `;`. */
export type Step = { readonly operator: Operator; readonly words: readonly Word[] };

/** Unquoted, each of these makes a script more than commands in a row. */
const REFUSED = new Set('<>&$`(){}!#\n\r');
const GLOBS = new Set('*?[');

/**
 * The commands of a script that is only words, quotes and the operators && || | ; – or null. Redirection, substitution,
 * expansion of variables and braces, grouping, background, negation, comments and new lines are all null: what this
 * cannot read with certainty must be asked about.
 */
export function parseSteps(script: string): Step[] | null {
  const steps: Step[] = [];
  let words: Word[] = [];
  let joined: Operator = ';';
  let at = 0;
  while (at < script.length) {
    if (script[at] === ' ' || script[at] === '\t') {
      at++;
      continue;
    }
    const operator = OPERATORS.find((candidate) => script.startsWith(candidate, at));
    if (operator) {
      if (words.length === 0) return null;
      steps.push({ operator: joined, words });
      words = [];
      joined = operator;
      at += operator.length;
      continue;
    }
    const read = readWord(script, at);
    if (!read) return null;
    words.push(read.word);
    at = read.end;
  }
  if (words.length === 0) return null;
  return [...steps, { operator: joined, words }];
}

/** The commands alone. */
export const parseScript = (script: string): Word[][] | null =>
  parseSteps(script)?.map(({ words }) => [...words]) ?? null;

function readWord(script: string, start: number): { word: Word; end: number } | null {
  let text = '';
  let pattern = '';
  let glob = false;
  let wild = false;
  let tilde = false;
  let at = start;
  while (at < script.length) {
    const character = script.charAt(at);
    if (character === ' ' || character === '\t' || character === '|' || character === ';') break;
    if (script.startsWith('&&', at)) break;
    if (REFUSED.has(character) || isControl(character)) return null;
    if (character === "'" || character === '"') {
      const quoted = character === "'" ? singleQuoted(script, at) : doubleQuoted(script, at);
      if (!quoted) return null;
      text += quoted.text;
      pattern += escaped(quoted.text);
      at = quoted.end;
    } else if (character === '\\') {
      const next = script.charAt(at + 1);
      if (next === '' || isControl(next)) return null;
      text += next;
      pattern += `\\${next}`;
      at += 2;
    } else {
      if (GLOBS.has(character)) {
        glob = true;
        wild ||= text === '' || text.startsWith('-');
      }
      if (character === '~') tilde ||= text === '' || text.endsWith('=') || text.endsWith(':');
      text += character;
      pattern += character;
      at++;
    }
  }
  return { word: { text, glob, wild, pattern, tilde }, end: at };
}

type Quoted = { readonly text: string; readonly end: number };

function singleQuoted(script: string, start: number): Quoted | null {
  const close = script.indexOf("'", start + 1);
  return close < 0 ? null : { text: script.slice(start + 1, close), end: close + 1 };
}

function doubleQuoted(script: string, start: number): Quoted | null {
  let text = '';
  for (let at = start + 1; at < script.length; at++) {
    const character = script.charAt(at);
    if (character === '"') return { text, end: at + 1 };
    if (character === '$' || character === '`' || character === '!') return null;
    if (character === '\\' && '"\\$`'.includes(script.charAt(at + 1)) && at + 1 < script.length) {
      text += script.charAt(++at);
    } else text += character;
  }
  return null;
}

const isControl = (character: string): boolean => character < ' ' || character === '\u007f';
