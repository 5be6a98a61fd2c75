/** `parlance serve`: starts the server. */
import { Fault } from '@parlance/protocol';
import { type Config, ConfigError, fullHelpText, helpText, loadConfig } from '@parlance/server/config';
import { bannerOf } from './banner.ts';
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
  const help = argv.findIndex((word) => word === '--help' || word === '-h');
  if (help !== -1) {
    console.log(argv[help + 1] === 'all' ? fullHelpText() : helpText());
    return 0;
  }
  const config = configFrom(argv);
  const started = import('@parlance/server').then(({ startServer }) => startServer(config));

  let waiting = () => null as string | null;
  const signalled = whenSignalled({
    waiting: () => waiting(),
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
  if (process.stdout.isTTY) console.log(bannerOf(config, urlOf(server.host, server.port)));
  if (process.stderr.isTTY) waiting = () => waitingLine(server.running(), config.grace);
  return null;
}

function waitingLine(turns: number, graceMs: number): string | null {
  if (turns === 0) return null;
  const running = turns === 1 ? '1 running turn' : `${turns} running turns`;
  const seconds = Math.ceil(graceMs / 1_000);
  return `waiting up to ${seconds} s for ${running}; what is unfinished goes on at the next start. Ctrl-C again stops at once.`;
}
