/**
 * Parses an action as clients do: commas outside of strings separate arguments, and a string is the verbatim text between two
 * quotes of the same kind. Otherwise strict: names, number and kinds of arguments must match the grammar, with nothing before
 * or after it; blanks are allowed only around arguments.
 */
import { type Action, type Argument, minArguments, type Parameter, parametersOf } from './action.ts';

const HEAD = /^([a-zA-Z]{1,32})\(/;
const PLAIN =
  /[ \t]*(?:("[^"]*"|'[^']*'|`[^`]*`)|(-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?)|(true|false))[ \t]*/y;
/** A backslash escapes the next character. */
const ESCAPED =
  /[ \t]*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?)|(true|false))[ \t]*/sy;
const MAX_LENGTH = 100_000;

/** Null if a client would not read it as one action. */
export const parseAction = (text: string): Action | null =>
  actionIn(text, { token: PLAIN, unquote: (inner) => inner });

/**
 * Like `parseAction`, for the text of a model: `\u00e9` becomes the character, which is hardly ever meant literally. If a
 * client could not read it, strings are unescaped, as models often write them (`"say \"hi\""`).
 */
export const parseWritten = (text: string): Action | null =>
  actionIn(text, { token: PLAIN, unquote: withCharacters }) ??
  actionIn(text, { token: ESCAPED, unquote: unescaped });

type Unquote = (inner: string) => string | null;
/** `token` matches one argument from its `lastIndex` on. */
type Lexer = { readonly token: RegExp; readonly unquote: Unquote };

function actionIn(text: string, lexer: Lexer): Action | null {
  if (text.length > MAX_LENGTH) return null;
  const name = HEAD.exec(text)?.[1];
  const parameters = name === undefined ? null : parametersOf(name);
  if (name === undefined || !parameters) return null;
  const args = argumentsIn(text, name.length + 1, lexer);
  if (!args || args.length < minArguments(name) || args.length > parameters.length) return null;
  const fields: Record<string, Argument> = {};
  for (const [index, value] of args.entries()) {
    const [field, kind] = parameters[index] ?? [];
    if (field === undefined || kind === undefined || !matchesKind(value, kind)) return null;
    fields[field] = value;
  }
  return { name, ...fields } as Action;
}

function matchesKind(value: Argument, kind: Parameter): boolean {
  switch (kind) {
    case 'text':
    case 'exact':
    case 'url':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'number':
      return Number.isSafeInteger(value) && Number(value) >= 0;
    case 'offset':
      return typeof value === 'number';
    case 'amount':
      return typeof value === 'number' && value >= 0;
  }
}

function argumentsIn(text: string, from: number, { token, unquote }: Lexer): Argument[] | null {
  if (/^[ \t]*\)$/.test(text.slice(from))) return [];
  const args: Argument[] = [];
  let at = from;
  for (;;) {
    token.lastIndex = at;
    const match = token.exec(text);
    const value = match && valueFrom(match, unquote);
    if (value === null) return null;
    args.push(value);
    at = token.lastIndex;
    const mark = text.charAt(at++);
    if (mark === ')') return at === text.length ? args : null;
    if (mark !== ',') return null;
  }
}

function valueFrom([, quoted, digits, word]: RegExpExecArray, unquote: Unquote): Argument | null {
  if (quoted !== undefined) return unquote(quoted.slice(1, -1));
  if (digits === undefined) return word === 'true';
  const value = Number(digits);
  // Only numbers that print as they were written: no minus zero, nothing rounded.
  return String(value) === digits ? value : null;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  "'": "'",
  '`': '`',
  '\\': '\\',
};

const characterOf = (code: string): string => String.fromCharCode(Number.parseInt(code, 16));

/** An escaped backslash (`\\u00e9`) does not start a character escape. */
const withCharacters = (text: string): string =>
  text.replace(/\\\\|\\u([0-9a-fA-F]{4})/g, (written, code?: string) =>
    code === undefined ? written : characterOf(code),
  );

/** Null if it contains an unknown escape. */
function unescaped(text: string): string | null {
  let known = true;
  const plain = text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code?: string, mark = '') => {
    if (code !== undefined) return characterOf(code);
    known &&= Object.hasOwn(ESCAPES, mark);
    return ESCAPES[mark] ?? '';
  });
  return known ? plain : null;
}
