/** Determines the server of a command, and its credentials. */
import { resolve } from 'node:path';
import { CommandError } from '../command-error.ts';
import { storedLogin } from './logins.ts';
import { type RunningServer, runningServer } from './running-server.ts';

export type ServerFlags = {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly data?: string | undefined;
  readonly config?: string | undefined;
};

export type ServerAddress = { readonly url: string; readonly token: string | null };

/** Flags of all commands that connect to a server. */
export const SERVER_FLAGS = {
  url: { type: 'string' },
  token: { type: 'string' },
  data: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Help text for these flags. */
export const SERVER_HELP = `  --url URL      a server (PARLANCE_URL). Without it: the one that uses the data folder, or else
                 the one at http://127.0.0.1:3000 (HOST, PORT)
  --token TOKEN  a token or an API key (PARLANCE_TOKEN). Without it: what parlance login has stored
  --data FOLDER  the data folder (PARLANCE_DATA), ./.parlance`;

/**
 * Throws unless it is an http or https URL. Returns it without a trailing slash; a path is a prefix of the
 * server's routes.
 */
export function checkedUrl(text: string, name = '--url'): string {
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
  const configured = await import('../data-folder.ts');
  return { folder: configured.dataFolder(flags), isNamed: true };
}

/** The server that uses the data folder; null if none is running. */
export async function localServer(flags: ServerFlags): Promise<RunningServer | null> {
  const { folder, isNamed } = await chosenFolder(flags);
  return runningServer(folder, isNamed);
}

/**
 * The address of a server with a port, whether or not it responds.
 * @example
 * const { url, token } = await serverAddress(values);
 */
export async function serverAddress(flags: ServerFlags): Promise<ServerAddress> {
  const given = givenUrl(flags);
  const local = given === null ? await localServer(flags) : null;
  const url = given ?? (local && 'url' in local ? local.url : defaultUrl());
  return { url, token: tokenFor(url, flags) };
}
