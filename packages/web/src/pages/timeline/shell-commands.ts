/** Commands that can be pasted into a terminal. They read the token from PARLANCE_TOKEN. */
import { parsedObject } from '@parlance/protocol/json-text';
import type { Dialect } from '@parlance/sdk';
import type { ShellCommand } from '../../entries/rows.ts';
import { socketUrl } from '../playground/connection.ts';

const BEARER = '"Authorization: Bearer $PARLANCE_TOKEN"';

/** The text as one quoted word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export type Snippet = {
  readonly title: string;
  readonly language: 'sh' | 'js' | 'ts' | 'python' | 'json' | 'toml';
  readonly code: string;
  /** it uses PARLANCE_TOKEN */
  readonly needsToken: boolean;
  /** the socket it opens, if any */
  readonly socket?: SocketTry;
};

export type SocketTry = {
  readonly address: string;
  readonly needsToken: boolean;
  /** sent one after another; replies are printed until Ctrl-C */
  readonly frames: readonly object[];
};

export function wscat(title: string, socket: SocketTry): Snippet {
  const { address, needsToken, frames } = socket;
  const lines = [`npx wscat -c ${shellWord(address)}`];
  if (needsToken) lines.push(`-H ${BEARER}`);
  for (const frame of frames) lines.push(`-x ${shellWord(JSON.stringify(frame))}`);
  return { title, language: 'sh', code: [...lines, '-w -1'].join(' \\\n  '), needsToken, socket };
}

export type HttpTry = {
  readonly method: string;
  readonly address: string;
  readonly needsToken: boolean;
  readonly body?: object;
  /** the response is a stream of server-sent events */
  readonly stream?: boolean;
};

export function curl(title: string, request: HttpTry): Snippet {
  const { method, address, needsToken, body, stream = false } = request;
  const lines = [`curl -s${stream ? 'N' : ''} ${shellWord(address)}`];
  // curl chooses these two by itself.
  if (method !== (body ? 'POST' : 'GET')) lines.push(`-X ${method}`);
  if (needsToken) lines.push(`-H ${BEARER}`);
  if (stream) lines.push("-H 'accept: text/event-stream'");
  if (body) lines.push("-H 'content-type: application/json'", `-d ${shellWord(JSON.stringify(body))}`);
  return { title, language: 'sh', code: lines.join(' \\\n  '), needsToken };
}

/** Sets PARLANCE_TOKEN from name and password. */
export function logIn(origin: string, name: string): Snippet {
  const body = JSON.stringify({ username: name, password: 'PASSWORD' });
  const code = [
    `export PARLANCE_TOKEN="$(curl -s ${shellWord(`${origin}/v1/auth/login`)}`,
    "-H 'content-type: application/json'",
    `-d ${shellWord(body)}`,
    `| sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')"`,
  ].join(' \\\n  ');
  return { title: 'Sign in from a terminal (insert your password)', language: 'sh', code, needsToken: false };
}

// A frame at the path of its dialect, attached to the session: `wscat` for sockets, `curl` for the rest.

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

/** Null if the dialect has no socket or the text has a character that no command line can carry. */
export function wscatCommand({ origin, dialect, session, text, tokenRequired }: Command): string | null {
  if (!dialect?.socket || text?.includes('\0') === true) return null;
  const { anonymous, elsewhere } = dialect.socket;
  const address = socketUrl(elsewhere ?? origin, { dialect, session, token: null });
  const args = ['npx wscat', '-c', shellWord(address)];
  if (!anonymous && (tokenRequired || dialect.needsToken)) args.push('-H', BEARER);
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

/** Null if no command can send it. */
export function shellCommand(frame: Command): ShellCommand | null {
  const isSocket = frame.dialect?.transport === 'socket';
  const text = isSocket ? wscatCommand(frame) : curlCommand(frame);
  return text === null ? null : { tool: isSocket ? 'wscat' : 'curl', text };
}

/** The token comes from the shell variable PARLANCE_TOKEN. Without a text, it follows the events of the session. */
function curlCommand({ origin, dialect, session, text, tokenRequired }: Command): string | null {
  if (!dialect || text?.includes('\0') === true) return null;
  const needsToken = tokenRequired || dialect.needsToken;
  const at = `${origin}/v1/sessions/${encodeURIComponent(session)}`;
  if (text === null) {
    if (dialect.transport !== 'commands') return null;
    return curl('', { method: 'GET', address: `${at}/events`, needsToken, stream: true }).code;
  }
  const frame = parsedObject(text);
  if (frame === null) return null;
  if (dialect.transport === 'commands')
    return curl('', { method: 'POST', address: `${at}/commands`, needsToken, body: frame }).code;
  const { method = 'GET', path, body } = frame;
  // As in the playground: the token is for this server alone.
  if (typeof method !== 'string' || typeof path !== 'string' || !/^\/(?![/\\])/.test(path)) return null;
  return curl('', {
    method,
    address: origin + path,
    needsToken,
    body: typeof body === 'object' && body !== null ? body : undefined,
  }).code;
}
