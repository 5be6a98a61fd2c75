/**
 * A frame as a command for a terminal: `wscat` at the path of the dialect, attached to the session. What the page may
 * not give away, the token, is left to the variable PARLANCE_TOKEN of the shell.
 */
export type Command = {
  /** `http://127.0.0.1:3000`, of the page */
  readonly origin: string;
  readonly dialect: string;
  readonly session: string;
  /** what is sent; null to listen only */
  readonly text: string | null;
  /** the server takes nobody without a token */
  readonly tokenRequired: boolean;
};

const PATHS: Readonly<Record<string, string>> = {
  extension: '/extension',
  broadcast: '/broadcast',
  agentloop: '/agentloop',
  conversations: '/conversations',
};

const TOKEN = '"$PARLANCE_TOKEN"';

/** Tokens are not shown in frames: where one stood there is this. */
const REDACTED = /("(?:sessionToken|token|access_token)"\s*:\s*")…(?=")/g;

/** Frames of the extension are refused before a registration, but for these. */
const BEFORE_REGISTRATION: readonly string[] = ['client_registration', 'ping'];
const REGISTRATION = '{"type":"client_registration","capabilities":[]}';

/** One word of a POSIX shell that is exactly this text. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Null where no command can say it: no socket of that dialect, or a character that no command line can carry. */
export function wscatCommand({ origin, dialect, session, text, tokenRequired }: Command): string | null {
  const path = Object.hasOwn(PATHS, dialect) ? PATHS[dialect] : undefined;
  if (path === undefined || text?.includes('\0') === true) return null;
  const address = `${origin.replace(/^http/, 'ws')}${path}?session=${encodeURIComponent(session)}`;
  const words = ['npx wscat', '-c', shellWord(address)];
  if (tokenRequired || dialect === 'conversations')
    words.push('-H', `"Authorization: Bearer $PARLANCE_TOKEN"`);
  if (text === null) return words.join(' ');
  if (dialect === 'extension' && !BEFORE_REGISTRATION.includes(typeOf(text)))
    words.push('-x', shellWord(REGISTRATION));
  words.push('-x', withToken(text), '-w', '-1');
  return words.join(' ');
}

/** The text as a word, with the shell's token where one stood. */
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
