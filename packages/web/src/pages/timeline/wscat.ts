/**
 * A frame as a `wscat` command at the path of its dialect, attached to the session. The token comes from the shell
 * variable PARLANCE_TOKEN.
 */
import type { Dialect } from '@parlance/sdk';
import { socketUrl } from '../playground/address.ts';

export type Command = {
  /** origin of the page: `http://127.0.0.1:3000` */
  readonly origin: string;
  /** undefined: not known */
  readonly dialect: Dialect | undefined;
  readonly session: string;
  /** the text to send; null to listen only */
  readonly text: string | null;
  /** the server requires a token */
  readonly tokenRequired: boolean;
};

const TOKEN = '"$PARLANCE_TOKEN"';

/** Tokens in frames are redacted to this. */
const REDACTED = /("(?:sessionToken|token|access_token)"\s*:\s*")…(?=")/g;

/** The text as one quoted word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Null if the dialect has no socket or the text has a character that no command line can carry. */
export function wscatCommand({ origin, dialect, session, text, tokenRequired }: Command): string | null {
  if (!dialect?.socket || text?.includes('\0') === true) return null;
  const { anonymous, elsewhere } = dialect.socket;
  const address = socketUrl(elsewhere ?? origin, { dialect, session, token: null });
  const args = ['npx wscat', '-c', shellWord(address)];
  if (!anonymous && (tokenRequired || dialect.needsToken))
    args.push('-H', `"Authorization: Bearer $PARLANCE_TOKEN"`);
  if (text === null) return args.join(' ');
  const greeting = greetingOf(dialect);
  if (greeting !== null && typeOf(text) !== greeting.name)
    args.push('-x', shellWord(JSON.stringify(greeting.frame)));
  args.push('-x', withToken(text), '-w', '-1');
  return args.join(' ');
}

/** The text as a quoted word, with the shell's token where one was redacted. */
function withToken(text: string): string {
  const word = shellWord(text);
  return word.replace(REDACTED, (_, before: string) => `${before}'${TOKEN}'`);
}

/** The first message of a client. */
function greetingOf({ socket, messages }: Dialect) {
  const message = messages.find(({ name }) => name === socket?.greeting);
  const frame = message?.examples[0]?.frame;
  return message && frame ? { name: message.name, frame } : null;
}

function typeOf(text: string): string {
  try {
    const { type } = JSON.parse(text) as { type?: unknown };
    return String(type);
  } catch {
    return '';
  }
}
