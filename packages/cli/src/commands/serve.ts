/** `parlance serve`: starts the server. */

import { hostname } from 'node:os';
import { type Config, fullHelpText, helpText, VENDORS } from '@parlance/server/config';
import { counted } from '@parlance/ui/chat/cost.ts';
import { version } from '../../package.json' with { type: 'json' };
import { printStderr } from '../command.ts';
import { shareServer } from '../connection/running-server.ts';
import { configFrom, explainStart } from '../connection/start.ts';
import { whenSignalled } from '../connection/stopping.ts';

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
  for (const listener of server.listeners)
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

// The startup message on a terminal.

const LISTENS_EVERYWHERE = new Set(['0.0.0.0', '::']);

type Started = {
  /** may have been set up in the console since */
  readonly model: Config['model'];
  /** address for a browser on this machine */
  readonly url: string;
  /** password of the user `admin`, if this start created it */
  readonly adminPassword: string | null;
};

type Row = readonly [name: string, ...lines: readonly string[]];

const INDENT = ' '.repeat(13);

function bannerOf(config: Config, { model, url, adminPassword }: Started): string {
  const rows: readonly Row[] = [
    ['Open', url, ...elsewhere(config, url)],
    ['Model', ...modelLines(model)],
    ['Sign-in', config.auth === 'open' ? 'not required on this machine' : 'required'],
    ...(adminPassword === null ? [] : [['Admin', ...adminLines(config, adminPassword)] as const]),
    ['Data', config.database === undefined ? config.data : 'PostgreSQL'],
    ['Workspace', config.cwd],
  ];
  const shown = rows.map(([name, ...lines]) => `  ${name.padEnd(11)}${lines.join(`\n${INDENT}`)}`);
  return `\n  Parlance ${version}\n\n${shown.join('\n')}\n\n  Press Ctrl-C to stop.\n`;
}

const elsewhere = ({ host }: Config, url: string): readonly string[] =>
  LISTENS_EVERYWHERE.has(host) ? [`http://${hostname()}:${new URL(url).port} from other machines`] : [];

function modelLines(model: Started['model']): readonly string[] {
  if (model.provider !== 'offline') {
    const isVendorsOwn = model.baseUrl === VENDORS[model.provider].address;
    return [`${model.model} ${isVendorsOwn ? `(${model.provider})` : `at ${model.baseUrl}`}`];
  }
  return [
    'offline demo model: connect a real one with “Connect a model” on the page,',
    'or with parlance init, or a variable such as OPENAI_API_KEY; OPENAI_BASE_URL is',
    'for Ollama, vLLM and the like',
  ];
}

const adminLines = ({ auth }: Config, password: string): readonly string[] => [
  `user admin, password ${password} (shown only this time)`,
  ...(auth === 'open' ? ['needed to manage users, MCP servers, listeners and origins'] : []),
];
