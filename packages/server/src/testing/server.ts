/** The real server for tests: real sockets, a database in a temporary folder, any free port. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ListenerAddress, loadConfig } from '../config/config.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import { type RunningServer, startServer } from '../main.ts';
import { TestClient } from './client.ts';
import { hashQuickly } from './quick-passwords.ts';

hashQuickly();

export type TestServer = {
  readonly running: RunningServer;
  /** working directory of its tools */
  readonly root: string;
  readonly data: string;
  readonly http: string;
  readonly ws: string;
  connect(path: string, headers?: Record<string, string>): Promise<TestClient>;
  /** a token of that user, from the login endpoint */
  login(username: string, password: string): Promise<string>;
  stop(): Promise<void>;
};

export const TEST_USERS = 'ada:ada-password:admin;dev:dev-password:developer;uma:uma-password:user';

/** Dialects instead of those of the index, and their extra listeners. */
export type TestDialects = {
  readonly dialects?: readonly Dialect[];
  readonly listeners?: readonly ListenerAddress[];
};

/** `settings` are environment variables as an operator would set them. */
export async function startTestServer(
  settings: Record<string, string> = {},
  { dialects, listeners }: TestDialects = {},
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-test-'));
  const root = mkdtempSync(join(folder, 'work-'));
  const data = settings.PARLANCE_DATA ?? join(folder, 'data');
  const environment = {
    PORT: '0',
    PARLANCE_DATA: data,
    WORKING_DIRECTORY: root,
    AUTH_USERS: TEST_USERS,
    PARLANCE_OFFLINE_DELAY: '0',
    PARLANCE_GRACE: '0',
    PARLANCE_FULL_AUTO_AS_ROOT: 'on',
    PARLANCE_TITLES: 'input',
    LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
    // The default is refused if a login is required.
    ...(settings.PARLANCE_AUTH === 'required' && { SOCKUDO_APP_SECRET: 'secret of the tests' }),
    ...settings,
  };
  const config = loadConfig([], environment, folder);
  const running = await startServer({ ...config, listeners: [...(listeners ?? config.listeners)] }, dialects);
  const http = `http://127.0.0.1:${running.port}`;
  const ws = `ws://127.0.0.1:${running.port}`;
  const clients: TestClient[] = [];
  return {
    running,
    root: environment.WORKING_DIRECTORY,
    data,
    http,
    ws,
    async connect(path, headers) {
      const client = await TestClient.connect(ws + path, headers);
      clients.push(client);
      return client;
    },
    async login(username, password) {
      const response = await fetch(`${http}/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password }),
      });
      const body = (await response.json()) as { access_token?: string };
      if (!body.access_token) throw new Error(`login of ${username} failed: ${response.status}`);
      return body.access_token;
    },
    async stop() {
      for (const client of clients) client.close();
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
