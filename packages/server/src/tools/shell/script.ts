/** Splits a shell script into simple commands, if it consists of nothing else. */

export type Word = {
  readonly text: string;
  /** the shell would replace the word by file names that may begin with a dash */
  readonly wild: boolean;
  /** the word contains an unquoted * ? or [ */
  readonly glob: boolean;
  /** the text as a pattern: quoted special characters have a backslash */
  readonly pattern: string;
  /** the shell would insert a home folder */
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

/** A simple command, and the operator before it; the first has `;`. */
export type Step = {
  readonly operator: Operator;
  readonly words: readonly Word[];
  /** to nothing or to the other output, in a form that every shell reads alike */
  readonly redirections: readonly string[];
};

/**
 * To and from /dev/null, and to the other output. Only as a word of its own: in `a2>x`, the digit belongs to the word before.
 */
const REDIRECTION =
  /(?:(?<both>&>>?)[ \t]*\/dev\/null|(?<one>[12]?>)>?[ \t]*\/dev\/null|(?<copy>[12]?>&[12])|<[ \t]*\/dev\/null)(?=$|[ \t\n;|]|&&)/y;

function redirectionAt(script: string, at: number): { text: string; end: number } | null {
  REDIRECTION.lastIndex = at;
  const groups = REDIRECTION.exec(script)?.groups;
  if (!groups) return null;
  const { both, one, copy } = groups;
  const end = REDIRECTION.lastIndex;
  // To `sh`, the bash operator &> is a command in the background.
  if (both) return { text: '>/dev/null 2>&1', end };
  return { text: copy ?? `${one ?? '<'}/dev/null`, end };
}

/** Unquoted, each of these makes a script more than a sequence of commands. */
const REFUSED = new Set('<>&$`(){}!#\r');
const GLOBS = new Set('*?[');

/**
 * The commands of a script that is only words, quotes, the operators && || | ; newlines and redirections to nothing, or
 * null. Other redirections, substitution, expansion of variables and braces, grouping, background, negation and comments all
 * return null: what cannot be parsed with certainty needs approval.
 */
export function parseSteps(script: string): Step[] | null {
  const steps: Step[] = [];
  let words: Word[] = [];
  let redirections: string[] = [];
  let joined: Operator = ';';
  let at = 0;
  /** False if there is no command to end. */
  const endStep = (next: Operator): boolean => {
    if (words.length === 0) return false;
    steps.push({ operator: joined, words, redirections });
    [words, redirections, joined] = [[], [], next];
    return true;
  };
  while (at < script.length) {
    if (script[at] === ' ' || script[at] === '\t') {
      at++;
      continue;
    }
    if (script.startsWith('\\\n', at)) {
      at += 2;
      continue;
    }
    if (script[at] === '\n') {
      // Empty lines mean nothing, also after an operator.
      if (!endStep(';') && redirections.length > 0) return null;
      at++;
      continue;
    }
    const redirection = redirectionAt(script, at);
    if (redirection) {
      redirections.push(redirection.text);
      at = redirection.end;
      continue;
    }
    const operator = OPERATORS.find((candidate) => script.startsWith(candidate, at));
    if (operator) {
      if (!endStep(operator)) return null;
      at += operator.length;
      continue;
    }
    const read = readWord(script, at);
    if (!read) return null;
    words.push(read.word);
    at = read.end;
  }
  // A script may end with a semicolon or a newline, but not with another operator.
  if (!endStep(';') && (redirections.length > 0 || joined !== ';')) return null;
  return steps.length > 0 ? steps : null;
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
    if (' \t\n|;'.includes(character)) break;
    if (script.startsWith('&&', at)) break;
    if (script.startsWith('\\\n', at)) {
      at += 2;
      continue;
    }
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
  // The program `[`: a lone bracket is no pattern.
  if (pattern === '[') return { word: plainWord('['), end: at };
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
