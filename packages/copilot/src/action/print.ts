/** Prints an action as clients parse it: see `parse.ts`. */
import { type Action, type Argument, type Parameter, parametersOf } from './action.ts';
import { parseAction, parseWritten } from './parse.ts';

const QUOTES = ['"', "'", '`'] as const;

/** What is sent to a client. */
export type Sent = {
  readonly text: string;
  /** the action as the client reads it */
  readonly action: Action;
  /** what had to be changed, as a sentence for the user */
  readonly note: string | null;
};

const CHANGED =
  'The text contains all three quote characters, which cannot be sent to the browser: backticks are entered as apostrophes.';

/**
 * Null if clients would read it differently: a string with all three kinds of quotes that must not change. Throws for values
 * outside of the grammar, which is a bug.
 */
export function sendAction(action: Action): Sent | null {
  const fields: Readonly<Record<string, Argument | undefined>> = action;
  const parameters = parametersOf(action.name) ?? [];
  const last = parameters.findLastIndex(([field]) => fields[field] !== undefined);
  const args: string[] = [];
  let changed = false;
  for (const [field, kind] of parameters.slice(0, last + 1)) {
    const given = fields[field] ?? DEFAULTS[kind];
    const value = typeof given === 'string' ? quotable(given, kind) : given;
    if (value === null) return null;
    changed ||= kind === 'text' && value !== given;
    args.push(typeof value === 'string' ? quoted(value) : String(value));
  }
  const text = `${action.name}(${args.join(', ')})`;
  const read = parseAction(text);
  if (!read) throw new TypeError(`Not an action of the grammar: ${text.slice(0, 200)}`);
  return { text, action: read, note: changed ? CHANGED : null };
}

/** Like `sendAction`, for the text of a model; also null if it is not an action. */
export function sendWritten(written: string): Sent | null {
  const action = parseWritten(written);
  return action && sendAction(action);
}

/** Like `sendAction`, for actions that are known to be sendable: throws if one is not. */
export function printAction(action: Action): string {
  const sent = sendAction(action);
  if (!sent) throw new TypeError(`Cannot be sent: ${action.name}`);
  return sent.text;
}

/** Default of an omitted argument before a given one. */
const DEFAULTS: Readonly<Record<Parameter, Argument>> = {
  text: '',
  exact: '',
  url: '',
  number: 0,
  amount: 1,
  offset: 0,
  flag: true,
};

const quoteFor = (text: string): string | undefined => QUOTES.find((quote) => !text.includes(quote));

/** The string in a form that avoids some quote; null if that would change its meaning. */
function quotable(text: string, kind: Parameter): string | null {
  if (quoteFor(text) !== undefined) return text;
  if (kind === 'url') return text.replaceAll('"', '%22');
  return kind === 'text' ? text.replaceAll('`', "'") : null;
}

function quoted(text: string): string {
  const quote = quoteFor(text) ?? '';
  return quote + text + quote;
}
