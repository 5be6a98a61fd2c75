/** Writes an action as clients read it: see `parse.ts`. */
import { type Action, type Argument, type Parameter, parametersOf } from './action.ts';
import { parseAction, parseWritten } from './parse.ts';

const QUOTES = ['"', "'", '`'] as const;

/** What a client is sent. */
export type Sent = {
  readonly text: string;
  /** the action as the client reads it */
  readonly action: Action;
  /** what had to be changed of it, as a sentence for the user */
  readonly note: string | null;
};

const CHANGED =
  'The text has all three kinds of quotes, which the browser cannot be sent: its backticks are entered as apostrophes.';

/**
 * Null where clients would read something else than what is meant: a string with all three kinds of quotes, of which no character
 * may change. Throws for values outside of the grammar: that is a bug.
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

/** As `sendAction`, for an action that a model wrote; null, too, where it is none. */
export function sendWritten(written: string): Sent | null {
  const action = parseWritten(written);
  return action && sendAction(action);
}

/** As `sendAction`, for actions that are known to be sendable: throws where one is not. */
export function printAction(action: Action): string {
  const sent = sendAction(action);
  if (!sent) throw new TypeError(`Cannot be sent: ${action.name}`);
  return sent.text;
}

/** Of an argument that is left out before one that is not. */
const DEFAULTS: Readonly<Record<Parameter, Argument>> = {
  text: '',
  exact: '',
  url: '',
  number: 0,
  amount: 1,
  flag: true,
};

const quoteFor = (text: string): string | undefined => QUOTES.find((quote) => !text.includes(quote));

/** The string in a form that some quote does not occur in; null where that would change what it means. */
function quotable(text: string, kind: Parameter): string | null {
  if (quoteFor(text) !== undefined) return text;
  if (kind === 'url') return text.replaceAll('"', '%22');
  return kind === 'text' ? text.replaceAll('`', "'") : null;
}

function quoted(text: string): string {
  const quote = quoteFor(text) ?? '';
  return quote + text + quote;
}
