/** Servers between a client and a model API, for the cost of a request: two bare ones, Portkey, and Parlance. */
import { join } from 'node:path';
import { type Engines, missingEngine, startEngines } from '../tables/cluster-engines.ts';
import { Absent, inBench, inRepository, installed, startServer } from './contestant.ts';
import { openaiAt, startParlance } from './parlance.ts';

/** `unstored`: Responses with `store: false` */
export type GatewayApi = 'chat' | 'responses' | 'unstored' | 'messages';

export type RunningGateway = {
  readonly url: string;
  /** root of its process tree; null if there is no server in between */
  readonly pid: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

export type Gateway = {
  readonly name: string;
  /** paths of the APIs that it is measured with */
  readonly paths: Partial<Record<GatewayApi, string>>;
  start(upstream: string, folder: string, checkout?: string): Promise<RunningGateway>;
};

const CHAT = { chat: '/v1/chat/completions' };

const direct: Gateway = {
  name: 'direct',
  paths: CHAT,
  start: async (url) => ({ url, pid: null, stop: async () => undefined }),
};

const bare = (name: string, database?: string): Gateway => ({
  name,
  paths: CHAT,
  async start(upstream, folder) {
    const command = [process.execPath, inBench('contestants/gateway-server.ts'), upstream];
    const { pid, first, stop } = await startServer(
      database === undefined ? command : [...command, join(folder, database)],
      { folder },
    );
    return { url: `http://127.0.0.1:${first}`, pid, stop };
  },
});

const portkey: Gateway = {
  name: 'Portkey',
  paths: CHAT,
  async start(upstream, folder) {
    const program = installed('@portkey-ai/gateway/build/start-server.js');
    const port = freePort();
    const { pid, stop } = await startServer(
      [installed('node/bin/node'), program, '--headless', `--port=${port}`],
      { folder, env: { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' }, ready: new RegExp(`${port}`) },
    );
    const headers = {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
      authorization: 'Bearer bench',
    };
    return { url: `http://127.0.0.1:${port}`, pid, headers, stop };
  },
};

/** Portkey does not tell which port the system gave it. */
function freePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  server.stop(true);
  return server.port;
}

const PARLANCE = {
  chat: '/openai/v1/chat/completions',
  responses: '/openai/v1/responses',
  unstored: '/openai/v1/responses',
  messages: '/anthropic/v1/messages',
};

/** A sequential client sends more than the default limit allows one caller. */
const NO_LIMITS = { PARLANCE_API_REQUESTS_PER_MINUTE: '10000000' };

const parlance: Gateway = {
  name: 'Parlance, SQLite',
  paths: PARLANCE,
  async start(upstream, folder, checkout = inRepository('.')) {
    const { http, pid, stop } = await startParlance(
      folder,
      { ...openaiAt(upstream), ...NO_LIMITS },
      checkout,
    );
    return { url: http, pid, stop };
  },
};

const parlanceOnPostgres: Gateway = {
  name: 'Parlance, PostgreSQL',
  paths: { chat: PARLANCE.chat },
  async start(upstream, folder, checkout = inRepository('.')) {
    const missing = missingEngine();
    if (missing) throw new Absent(missing);
    const engines: Engines = await startEngines();
    const settings = { DATABASE_URL: engines.database, PARLANCE_FOLDER: 'own', ...NO_LIMITS };
    const { http, pid, stop } = await startParlance(folder, { ...openaiAt(upstream), ...settings }, checkout);
    return {
      url: http,
      pid,
      async stop() {
        await stop();
        await engines[Symbol.asyncDispose]();
      },
    };
  },
};

export const GATEWAYS: readonly Gateway[] = [
  direct,
  bare('bare gateway'),
  bare('bare durable gateway', 'entries.db'),
  portkey,
  parlance,
  parlanceOnPostgres,
];
