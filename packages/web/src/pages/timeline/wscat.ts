/**
 * A frame as a `wscat` command at the path of its dialect, attached to the session. The token comes from the shell
 * variable PARLANCE_TOKEN.
 */
export type Command = {
  /** origin of the page: `http://127.0.0.1:3000` */
  readonly origin: string;
  readonly dialect: string;
  readonly session: string;
  /** the text to send; null to listen only */
  readonly text: string | null;
  /** the server requires a token */
  readonly tokenRequired: boolean;
};

const PATHS: Readonly<Record<string, string>> = {
  extension: '/extension',
  broadcast: '/broadcast',
  agentloop: '/agentloop',
  conversations: '/conversations',
};

const TOKEN = '"$PARLANCE_TOKEN"';

/** Tokens in frames are redacted to this. */
const REDACTED = /("(?:sessionToken|token|access_token)"\s*:\s*")…(?=")/g;

/** Extension frames that are allowed before a registration. */
const BEFORE_REGISTRATION: readonly string[] = ['client_registration', 'ping'];
const REGISTRATION = '{"type":"client_registration","capabilities":[]}';

/** The text as one quoted word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Null if the dialect has no socket or the text has a character that no command line can carry. */
export function wscatCommand({ origin, dialect, session, text, tokenRequired }: Command): string | null {
  const path = Object.hasOwn(PATHS, dialect) ? PATHS[dialect] : undefined;
  if (path === undefined || text?.includes('\0') === true) return null;
  const address = `${origin.replace(/^http/, 'ws')}${path}?session=${encodeURIComponent(session)}`;
  const args = ['npx wscat', '-c', shellWord(address)];
  if (tokenRequired || dialect === 'conversations')
    args.push('-H', `"Authorization: Bearer $PARLANCE_TOKEN"`);
  if (text === null) return args.join(' ');
  if (dialect === 'extension' && !BEFORE_REGISTRATION.includes(typeOf(text)))
    args.push('-x', shellWord(REGISTRATION));
  args.push('-x', withToken(text), '-w', '-1');
  return args.join(' ');
}

/** The text as a quoted word, with the shell's token where one was redacted. */
function withToken(text: string): string {
  const word = shellWord(text);
  return word.replace(REDACTED, (_, before: string) => `${before}'${TOKEN}'`);
}

function typeOf(text: string): string {
  try {
    const { type } = JSON.parse(text) as { type?: unknown };
    return String(type);
  } catch {
    return '';
  }
}
