/** Configuration of a server start, and explanations of its failures. */
import { Fault } from '@parlance/protocol';
import { type Config, ConfigError, loadConfig } from '@parlance/server/config';
import { CommandError } from '../command.ts';
import { asTyped, flagTakenByNpm } from './npm-start.ts';
import { runningServer } from './running-server.ts';

/** The settings of `parlance serve`. Throws `CommandError` if one is invalid. */
export function configFrom(argv: readonly string[]): Config {
  const taken = flagTakenByNpm(process.env);
  if (taken !== null)
    throw new CommandError(`npm took ${taken} for its own: write npm start -- ${taken} …`, 2);
  try {
    return loadConfig(argv, process.env, process.cwd());
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message, 2, { cause: error });
    throw error;
  }
}

const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`);

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'no folder can be created there',
};

const unusable = (data: string, { code }: { readonly code: unknown }): Error =>
  new Error(
    `the data folder ${data} cannot be created or written (${REASONS[String(code)] ?? 'a file is in its place'}): choose another with --data FOLDER`,
  );

/** A one-line explanation of common start errors, with what to do about them. */
export async function explainStart(error: unknown, config: Config): Promise<unknown> {
  if (error instanceof ConfigError) return new CommandError(error.message, 2, { cause: error });
  const explained = await explanationOf(error, config);
  if (!(explained instanceof Error)) return explained;
  return new CommandError(asTyped(explained.message, process.env), 1, { cause: error });
}

async function explanationOf(error: unknown, { host, data }: Config): Promise<unknown> {
  const { FolderInUse, storageError } = await import('@parlance/server/data');
  if (error instanceof Fault && error.code === 'storage_unavailable') return storageError(error.cause, data);
  if (error instanceof FolderInUse) return inUse(error, data);
  if (!(error instanceof Error) || !('code' in error)) return error;
  const isAboutData = 'path' in error && isWithin(data, String(error.path));
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EROFS':
      return isAboutData ? unusable(data, error) : error;
    case 'EADDRNOTAVAIL':
      return new Error(`host ${host} is not an address of this machine: choose another with --host ADDRESS`);
    case 'EACCES':
      return isAboutData
        ? unusable(data, error)
        : new Error(
            `not allowed to listen on ${host}: ports below 1024 need privileges; choose another with --port PORT`,
          );
    default:
      return error;
  }
}

function inUse({ message }: Error, data: string): Error {
  const running = runningServer(data, true);
  const first = running?.url ? `open ${running.url}` : 'stop it';
  return new Error(`${message}: ${first}, or choose another folder with --data FOLDER`);
}
