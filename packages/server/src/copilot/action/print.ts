/** Writes an action as clients read it. */
import { type Action, type Argument, parametersOf } from './action.ts';
import { parseAction } from './parse.ts';

/** What it returns is always read back as the same action. Throws for values outside of the grammar: that is a bug. */
export function printAction(action: Action): string {
  const text = `${action.name}(${argumentsOf(action).map(printed).join(', ')})`;
  if (!parseAction(text)) throw new TypeError(`Not an action of the grammar: ${text.slice(0, 200)}`);
  return text;
}

function argumentsOf(action: Action): readonly Argument[] {
  if (action.name === 'scroll') return action.args;
  const fields: Readonly<Record<string, Argument>> = action;
  return (parametersOf(action.name) ?? []).map(([field]) => fields[field] ?? '');
}

const printed = (value: Argument): string => (typeof value === 'string' ? quoted(value) : String(value));

/** Control characters, the line separators and halves of a pair are written by their number. */
const SPECIAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
  /["\\\u0000-\u001f\u007f\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function quoted(text: string): string {
  const inner = text.replace(SPECIAL, (mark) => {
    if (mark === '"' || mark === '\\') return `\\${mark}`;
    if (mark === '\n') return '\\n';
    if (mark === '\t') return '\\t';
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${inner}"`;
}
