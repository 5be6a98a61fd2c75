/** `parlance serve`: starts the server. */
import { Fault } from '@parlance/protocol';
import { type Config, ConfigError, helpText, loadConfig } from '@parlance/server/config';
import { CommandError } from './command-error.ts';
import { complain } from './complain.ts';
import { whenSignalled } from './stopping.ts';

const urlOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

function configFrom(argv: readonly string[]): Config {
  try {
    return loadConfig(argv, process.env, process.cwd());
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message, 2, { cause: error });
    throw error;
  }
}

/** A one-line explanation of common start errors. */
async function explain(error: unknown, { host, data }: Config): Promise<unknown> {
  if (error instanceof Fault && error.code === 'storage_unavailable')
    return (await import('@parlance/server/data')).storageError(error.cause, data);
  if (!(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'EADDRNOTAVAIL':
      return new CommandError(`host ${host} is not an address of this machine`, 1, { cause: error });
    case 'EACCES':
      return new CommandError(`not allowed to listen on ${host}, or to use the data folder`, 1, {
        cause: error,
      });
    default:
      return error;
  }
}

/** Resolves with null when the server is ready; signals then end the process. */
export async function serve(argv: readonly string[]): Promise<number | null> {
  if (argv.includes('--help') || argv.includes('-h')) {
    console.log(helpText());
    return 0;
  }
  const config = configFrom(argv);
  const started = import('@parlance/server').then(({ startServer }) => startServer(config));

  const signalled = whenSignalled({
    stop: async () => (await started).stop(),
    exit: (code) => process.exit(code),
    report: (line) => complain(`parlance: ${line}`),
  });
  process.on('SIGTERM', signalled);
  process.on('SIGINT', signalled);

  const server = await started.catch(async (error: unknown) => {
    throw await explain(error, config);
  });
  if (server.adminPassword !== null)
    complain(`created user admin with password ${server.adminPassword} (shown once)`);
  console.log(`parlance listening on ${urlOf(server.host, server.port)}`);
  for (const listener of server.doors)
    console.log(`parlance door ${listener.dialect} on ${urlOf(server.host, listener.port)}`);
  return null;
}
