/** `parlance serve`: starts the server. */
import { fullHelpText, helpText } from '@parlance/server/config';
import { bannerOf } from './banner.ts';
import { shareServer } from './connection/running-server.ts';
import { counted } from './counted.ts';
import { configFrom, explainStart } from './start.ts';
import { printStderr } from './stderr.ts';
import { whenSignalled } from './stopping.ts';

const urlOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The address for clients on this machine. */
const ownHost = (host: string) => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

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
  let withdraw: () => void = () => undefined;
  const signalled = whenSignalled({
    waiting: () => waiting(),
    async stop() {
      const server = await started;
      withdraw();
      await server.stop();
    },
    exit: (code) => process.exit(code),
    report: (line) => printStderr(`parlance: ${line}`),
  });
  process.on('SIGTERM', signalled);
  process.on('SIGINT', signalled);

  const server = await started.catch(async (error: unknown) => {
    throw await explainStart(error, config);
  });
  const { adminPassword } = server;
  const hasBanner = process.stdout.isTTY;
  if (adminPassword !== null && !hasBanner)
    printStderr(`created user admin with password ${adminPassword} (shown once)`);
  const url = urlOf(ownHost(server.host), server.port);
  withdraw = shareServer(config.data, url, (path, init) => server.fetch(path, init));
  console.log(`parlance listening on ${urlOf(server.host, server.port)}`);
  for (const listener of server.doors)
    console.log(`parlance listener ${listener.dialect} on ${urlOf(server.host, listener.port)}`);
  if (hasBanner) console.log(bannerOf(config, { model: server.model(), url, adminPassword }));
  if (process.stderr.isTTY) waiting = () => waitingLine(server.running(), config.grace);
  return null;
}

function waitingLine(turns: number, graceMs: number): string | null {
  if (turns === 0) return null;
  const running = counted(turns, 'running turn');
  const seconds = Math.ceil(graceMs / 1_000);
  return `waiting up to ${seconds} s for ${running}; unfinished turns resume at the next start. Press Ctrl-C again to stop immediately.`;
}
