/** Configuration of a server start, and explanations of its failures. */
import { Fault } from '@parlance/protocol';
import { type Config, ConfigError, loadConfig } from '@parlance/server/config';
import { CommandError } from './command-error.ts';

/** The settings of `parlance serve`. Throws `CommandError` if one is invalid. */
export function configFrom(argv: readonly string[]): Config {
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
};

const unusable = (data: string, cause: Error & { readonly code: unknown }): CommandError =>
  new CommandError(
    `the data folder ${data} cannot be made or written (${REASONS[String(cause.code)] ?? 'a file is in its place'}): choose another with --data FOLDER`,
    1,
    { cause },
  );

/** A one-line explanation of common start errors. */
export async function explainStart(error: unknown, { host, data }: Config): Promise<unknown> {
  if (error instanceof Fault && error.code === 'storage_unavailable')
    return (await import('@parlance/server/data')).storageError(error.cause, data);
  if (!(error instanceof Error) || !('code' in error)) return error;
  const isAboutData = 'path' in error && isWithin(data, String(error.path));
  switch (error.code) {
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EROFS':
      return isAboutData ? unusable(data, error) : error;
    case 'EADDRNOTAVAIL':
      return new CommandError(`host ${host} is not an address of this machine`, 1, { cause: error });
    case 'EACCES':
      return isAboutData
        ? unusable(data, error)
        : new CommandError(`not allowed to listen on ${host}: ports below 1024 need privileges`, 1, {
            cause: error,
          });
    default:
      return error;
  }
}
