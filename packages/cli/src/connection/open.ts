/** Opens the connection of a command: to a running server, or to one in this process. */
import { type About, connect, type Parlance, ParlanceError } from '@parlance/sdk';
import { CommandError } from '../command-error.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { chosenFolder, defaultUrl, givenUrl, type ServerFlags, tokenFor } from './address.ts';
import { runningServer } from './running-server.ts';
import { SHARED_URL, SharedServer } from './shared-server.ts';

export type Connection = {
  readonly parlance: Parlance;
  readonly about: About;
  /** null for the server of the data folder, running in this or a similar process */
  readonly url: string | null;
  /** Whether the server ends with this process. */
  isEmbedded(): boolean;
  /** Stops an embedded server; unfinished turns resume at its next start. */
  close(): Promise<void>;
};

export type OpenOptions = {
  /** Signs in if the server requires it; throws if the user does not. */
  readonly signIn?: (url: string) => Promise<string>;
};

/** Short delays, since a person is waiting. */
const BACKOFF = { baseMs: 300, maxMs: 5_000 };
/** Timeout of the default address. */
const PROBE_MS = 1_500;

/** Throws `CommandError` with exit code 4 if the server cannot be reached or needs a login. */
export async function openConnection(flags: ServerFlags, options: OpenOptions = {}): Promise<Connection> {
  return (
    (await openRunning(flags, options)) ?? shared(flags, { ...(await chosenFolder(flags)), isRunning: false })
  );
}

/** Connects to a running server; null if there is none. Throws like `openConnection`. */
export async function openRunning(flags: ServerFlags, options: OpenOptions = {}): Promise<Connection | null> {
  const given = givenUrl(flags);
  if (given !== null) return remote(given, flags, options);
  const { folder, isNamed } = await chosenFolder(flags);
  const local = runningServer(folder, isNamed);
  if (local && 'socket' in local) return shared(flags, { folder, isNamed, isRunning: true });
  const url = local?.url ?? defaultUrl();
  return (await isParlance(url)) ? remote(url, flags, options) : null;
}

/** Whether a Parlance server responds at the URL. */
export async function isParlance(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/server`, { signal: AbortSignal.timeout(PROBE_MS) });
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

async function remote(url: string, flags: ServerFlags, { signIn }: OpenOptions): Promise<Connection> {
  const parlance = connect({ url, token: tokenFor(url, flags), backoff: BACKOFF });
  const about = await askServer(parlance).catch(async (error: unknown) => {
    if (!needsLogin(error)) throw connectionError(error, url);
    if (!signIn) throw loginError(url, parlance.token !== null);
    parlance.token = await signIn(url);
    return parlance.server();
  });
  return { parlance, about, url, isEmbedded: () => false, close: async () => undefined };
}

const askServer = (parlance: Parlance): Promise<About> =>
  parlance.server({ signal: AbortSignal.timeout(10_000) });

const needsLogin = (error: unknown): boolean =>
  error instanceof ParlanceError && error.code === 'unauthenticated';

const loginError = (url: string, hasToken: boolean): CommandError =>
  new CommandError(
    `${hasToken ? 'the login has expired or was revoked' : 'sign-in is required'}: run parlance login --url ${url}`,
    4,
  );

export function connectionError(error: unknown, url: string): unknown {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new CommandError(`no response from ${url}`, 4, { cause: error });
  if (!(error instanceof ParlanceError)) return error;
  if (needsLogin(error)) return loginError(url, true);
  if (error.code === 'unreachable') return new CommandError(`cannot reach ${url}`, 4, { cause: error });
  if (error.code === 'unexpected')
    return new CommandError(`${url} is not a Parlance server`, 4, { cause: error });
  return new CommandError(safeLine(error.message), 1, { cause: error });
}

type Folder = { readonly folder: string; readonly isNamed: boolean; readonly isRunning: boolean };

async function shared(flags: ServerFlags, { folder, isNamed, isRunning }: Folder): Promise<Connection> {
  const argv = [
    ...(flags.data === undefined ? [] : ['--data', flags.data]),
    ...(flags.config === undefined ? [] : ['--config', flags.config]),
    // Log lines would interleave with the conversation.
    ...(process.env.LOG_LEVEL && !process.stderr.isTTY ? [] : ['--log-level', 'silent']),
  ];
  const server = new SharedServer({ folder, isNamed, argv });
  if (!isRunning) await server.start();
  const parlance = connect({ url: SHARED_URL, fetch: server.fetch, backoff: BACKOFF });
  const about = await askServer(parlance);
  return {
    parlance,
    about,
    url: null,
    isEmbedded: () => server.isEmbedded,
    close: () => server.close(0),
  };
}
