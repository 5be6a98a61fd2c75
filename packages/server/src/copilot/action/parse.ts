/**
 * Reads an action. Strict: exactly the names, the number and the kinds of arguments of the grammar, and nothing before or after
 * it; blanks are free around arguments only. Text in double quotes knows \" \\ \n \t and \uXXXX and holds no control characters.
 */
import { type Action, type Argument, MOST_SCROLL_ARGUMENTS, parametersOf } from './action.ts';

const HEAD = /^([a-zA-Z]{1,32})\(/;
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a string may not hold
  /[ \t]*(?:("(?:[^"\\\u0000-\u001f\u007f]|\\["\\nt]|\\u[0-9a-fA-F]{4})*")|(-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?)|(true|false))[ \t]*/y;
const LONGEST = 100_000;

/** Null for everything that is not one action. */
export function parseAction(text: string): Action | null {
  if (text.length > LONGEST) return null;
  const name = HEAD.exec(text)?.[1];
  if (name === undefined) return null;
  const args = argumentsIn(text, name.length + 1);
  if (!args) return null;
  if (name === 'scroll') return args.length <= MOST_SCROLL_ARGUMENTS ? { name, args } : null;
  const parameters = parametersOf(name);
  if (!parameters || parameters.length !== args.length) return null;
  const fields: Record<string, Argument> = {};
  for (const [index, [field, kind]] of parameters.entries()) {
    const value = args[index];
    if (value === undefined || !fits(value, kind)) return null;
    fields[field] = value;
  }
  return { name, ...fields } as Action;
}

function fits(value: Argument, kind: 'string' | 'number' | 'amount'): boolean {
  if (kind === 'string') return typeof value === 'string';
  return typeof value === 'number' && value >= 0 && (kind === 'amount' || Number.isSafeInteger(value));
}

function argumentsIn(text: string, from: number): Argument[] | null {
  if (/^[ \t]*\)$/.test(text.slice(from))) return [];
  const args: Argument[] = [];
  let at = from;
  for (;;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) return null;
    const value = valueFrom(match[1], match[2], match[3]);
    if (value === null) return null;
    args.push(value);
    at = TOKEN.lastIndex;
    const mark = text.charAt(at++);
    if (mark === ')') return at === text.length ? args : null;
    if (mark !== ',') return null;
  }
}

function valueFrom(quoted?: string, digits?: string, word?: string): Argument | null {
  if (quoted !== undefined) return unescaped(quoted.slice(1, -1));
  if (digits === undefined) return word === 'true';
  const value = Number(digits);
  // Only numbers that print as they were written: no minus zero, nothing that was rounded.
  return String(value) === digits ? value : null;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' };

const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code?: string, mark?: string) =>
    code === undefined ? (ESCAPES[mark ?? ''] ?? mark ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
