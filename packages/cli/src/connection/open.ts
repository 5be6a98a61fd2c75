/** Opens the connection of a command: to a running server, or to one in this process. */
import { type About, connect, type Parlance, ParlanceError } from '@parlance/sdk';
import { CommandError, printStderr } from '../command.ts';
import { safeLine } from '../terminal/safe-text.ts';
import {
  chosenFolder,
  defaultUrl,
  givenUrl,
  isPortFree,
  loginCommand,
  type ServerAddress,
  type ServerFlags,
  serverAddress,
} from './address.ts';
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
  readonly signIn?: (server: ServerAddress) => Promise<string>;
};

/** Short delays, since a person is waiting. */
const BACKOFF = { baseMs: 300, maxMs: 5_000 };
/** Throws `CommandError` with exit code 4 if the server cannot be reached or needs a login. */
export async function openConnection(flags: ServerFlags, options: OpenOptions = {}): Promise<Connection> {
  const running = await openRunning(flags, options);
  if (running) return running;
  noteForeignServer(flags);
  return shared(flags, { ...(await chosenFolder(flags)), isRunning: false });
}

/** A token is meant for a server: an agent in this process would be a surprise. */
function noteForeignServer({ token = process.env.PARLANCE_TOKEN ?? '' }: ServerFlags): void {
  const { hostname, port } = new URL(defaultUrl());
  if ((token === '' && !process.stderr.isTTY) || isPortFree(hostname, Number(port))) return;
  const problem = `what listens at ${defaultUrl()} is not known to be a server of yours: to use it, name it with --url`;
  if (token !== '') throw new CommandError(problem, 4);
  printStderr(`parlance: ${problem}`);
}

/** Connects to a running server; null if there is none. Throws like `openConnection`. */
export async function openRunning(flags: ServerFlags, options: OpenOptions = {}): Promise<Connection | null> {
  if (givenUrl(flags) === null) {
    const { folder, isNamed } = await chosenFolder(flags);
    if (runningServer(folder, isNamed)?.url === null)
      return shared(flags, { folder, isNamed, isRunning: true });
  }
  const server = await serverAddress(flags);
  return server && running(server, flags, options);
}

async function running(
  server: ServerAddress,
  flags: ServerFlags,
  { signIn }: OpenOptions,
): Promise<Connection> {
  const { url, token, fetch } = server;
  const parlance = connect({ url, token, fetch, backoff: BACKOFF });
  const about = await askServer(parlance).catch(async (error: unknown) => {
    if (!needsLogin(error)) throw connectionError(error, url);
    if (!signIn) {
      const what = token === null ? 'sign-in is required' : 'the login has expired or was revoked';
      throw new CommandError(`${what}: run ${loginCommand(server, flags)}`, 4);
    }
    parlance.token = await signIn(server);
    return parlance.server();
  });
  return { parlance, about, url, isEmbedded: () => false, close: async () => undefined };
}

const askServer = (parlance: Parlance): Promise<About> =>
  parlance.server({ signal: AbortSignal.timeout(10_000) });

const needsLogin = (error: unknown): boolean =>
  error instanceof ParlanceError && error.code === 'unauthenticated';

export function connectionError(error: unknown, url: string): unknown {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new CommandError(`no response from ${url}`, 4, { cause: error });
  if (!(error instanceof ParlanceError)) return error;
  if (needsLogin(error))
    return new CommandError('the login has expired or was revoked: run parlance login', 4, { cause: error });
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
