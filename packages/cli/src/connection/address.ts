/**
 * Determines the server of a command, and its credentials. Nothing is sent to an address just because
 * something listens there: any program of any user can. A server is one that the user has named, by its URL
 * or a login there, or one that proves to be the user's own by the socket in its data folder.
 */
import { resolve } from 'node:path';
import type { Fetch } from '@parlance/sdk';
import { CommandError } from '../command.ts';
import { isNamedLogin, storedLogin } from './logins.ts';
import { fetchOver, ownServers, type RunningServer, runningServer } from './running-server.ts';

export type ServerFlags = {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly data?: string | undefined;
  readonly config?: string | undefined;
};

export type ServerAddress = {
  readonly url: string;
  readonly token: string | null;
  /** Whether it is reached over the socket of its data folder. Then nothing is sent to the URL. */
  readonly isOwn: boolean;
  readonly fetch: Fetch;
};

/** Flags of all commands that connect to a server. */
export const SERVER_FLAGS = {
  url: { type: 'string' },
  token: { type: 'string' },
  data: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Help text for these flags. */
export const SERVER_HELP = `  --url URL      a server (PARLANCE_URL). Without it: your server that uses the data folder, or else the
                 one at http://127.0.0.1:3000 (HOST, PORT), if it is yours or you have signed in there
  --token TOKEN  a token or an API key (PARLANCE_TOKEN). Without it: what parlance login has stored
  --data FOLDER  the data folder (PARLANCE_DATA), ./.parlance`;

/**
 * Throws unless it is an http or https URL. Returns it without a trailing slash; a path is a prefix of the
 * server's routes.
 */
function checkedUrl(text: string, name = '--url'): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CommandError(`${name} must be an http or https URL, not "${text}"`, 2);
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** The URL given by a flag or the environment, or null. */
export function givenUrl({ url }: ServerFlags): string | null {
  if (url !== undefined) return checkedUrl(url);
  const named = process.env.PARLANCE_URL ?? '';
  return named === '' ? null : checkedUrl(named, 'PARLANCE_URL');
}

export function defaultUrl(): string {
  const { HOST = '', PORT = '' } = process.env;
  const host = HOST === '' || HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT === '' || PORT === '0' ? '3000' : PORT}`;
}

/** The token from `--token`, PARLANCE_TOKEN or the stored login, in this order, or null. */
export function tokenFor(url: string, { token }: ServerFlags): string | null {
  const given = token ?? process.env.PARLANCE_TOKEN ?? '';
  return given === '' ? (storedLogin(url)?.key ?? null) : given;
}

/** The folder of `--data`, PARLANCE_DATA or the config file; the default may belong to foreign files. */
export async function chosenFolder(flags: ServerFlags): Promise<{ folder: string; isNamed: boolean }> {
  const named = flags.data ?? process.env.PARLANCE_DATA ?? '';
  if (named !== '') return { folder: resolve(named), isNamed: true };
  if ((flags.config ?? process.env.PARLANCE_CONFIG ?? '') === '')
    return { folder: resolve('.parlance'), isNamed: false };
  const configured = await import('./data-folder.ts');
  return { folder: configured.dataFolder(flags), isNamed: true };
}

/**
 * The server of a command; null if none is named and none of this user is running. One that is named may not
 * respond.
 * @example
 * const { url, token, fetch } = (await serverAddress(values)) ?? fail();
 */
export async function serverAddress(flags: ServerFlags): Promise<ServerAddress | null> {
  const given = givenUrl(flags);
  if (given !== null) return named(given, flags);
  const { folder, isNamed } = await chosenFolder(flags);
  for (const server of [runningServer(folder, isNamed), ownServerAt(defaultUrl())]) {
    if (server?.url && (await isParlance(over(server, flags)))) return over(server, flags);
  }
  return isNamedLogin(defaultUrl()) ? named(defaultUrl(), flags) : null;
}

const named = (url: string, flags: ServerFlags): ServerAddress => ({
  url,
  token: tokenFor(url, flags),
  isOwn: false,
  fetch: (address, init) => fetch(address, init),
});

function over({ url, socket }: RunningServer, flags: ServerFlags): ServerAddress {
  const base = url ?? '';
  if (socket === null)
    throw new CommandError(
      `the server at ${base} has no socket in its data folder that proves it to be yours: name it with --url ${base}`,
      4,
    );
  return {
    url: base,
    token: tokenFor(base, flags),
    isOwn: true,
    fetch: (address, init) => fetchOver(socket, address.slice(base.length), init),
  };
}

/** The server of this user at the port of the URL, whatever its data folder is. */
function ownServerAt(url: string): RunningServer | null {
  const { port } = new URL(url);
  for (const server of ownServers())
    if (server.url !== null && new URL(server.url).port === port) return server;
  return null;
}

/** Timeout of a server that nobody has named. */
const PROBE_MS = 1_500;

/** Whether a Parlance server responds. The request has no token. */
export async function isParlance(server: Pick<ServerAddress, 'url' | 'fetch'>): Promise<boolean> {
  try {
    const init = { signal: AbortSignal.timeout(PROBE_MS) };
    const response = await server.fetch(`${server.url}/v1/server`, init);
    const body = (await response.json()) as {
      version?: unknown;
      principal?: unknown;
      error?: { code?: unknown };
    };
    if (response.status === 401) return body.error?.code === 'unauthenticated';
    return response.ok && typeof body.version === 'string' && typeof body.principal === 'object';
  } catch {
    // Nothing listens there, or another program does.
    return false;
  }
}

/** How to sign in at a server. */
export const loginCommand = ({ url, isOwn }: ServerAddress, { data }: ServerFlags): string =>
  isOwn ? `parlance login${data === undefined ? '' : ` --data ${data}`}` : `parlance login --url ${url}`;

/** For commands that need a server with an address. */
export const noServer = (): CommandError =>
  new CommandError(
    `no server of yours is running at ${defaultUrl()}: start one with parlance serve, or name one with --url`,
    4,
  );

export function isPortFree(hostname: string, port: number): boolean {
  try {
    Bun.listen({ hostname, port, socket: { data: () => undefined } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
