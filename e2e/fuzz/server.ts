/** The server under test: a separate process, whose log is checked as well. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DESCRIPTIONS, type Described } from '../../packages/server/src/describe/descriptions.ts';
import type { TestServer } from '../../packages/server/src/testing/server.ts';
import { DRIVERS } from '../drivers.ts';
import { postJson, startProcess } from '../server-process.ts';
import { type Fuzzed, fuzz, type Run } from './run.ts';

export type Outcome = Fuzzed & {
  /** log lines that report an internal error */
  readonly logged: readonly string[];
  /** dialects that answered a plain message afterwards */
  readonly answering: readonly string[];
};

export type FuzzOptions = Pick<Run, 'seed' | 'count' | 'report'> & {
  /** default: everything that the server serves */
  readonly descriptions?: readonly Described[];
  /** the program that serves; default: `parlance serve` */
  readonly program?: string;
};

const SETTINGS = {
  LOG_LEVEL: 'error',
  PARLANCE_OFFLINE_DELAY: '0',
  // Rate-limited messages would not be checked.
  PARLANCE_FRAMES_PER_MINUTE: '1000000',
  PARLANCE_REQUESTS_PER_MINUTE: '1000000',
  PARLANCE_API_REQUESTS_PER_MINUTE: '1000000',
};

export async function fuzzedServer({ program, ...options }: FuzzOptions): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-fuzz-'));
  const server = await startProcess(folder, SETTINGS, program);
  // Read from the start: an unread pipe would block the server.
  const log = server.stderr();
  try {
    const { http, pid } = server;
    const login = { username: 'dev', password: 'dev-password' };
    const { body } = await postJson(`${http}/v1/auth/login`, login);
    const token = String(body.access_token);
    const fuzzed = await fuzz({ descriptions: DESCRIPTIONS, ...options, http, pid, token });
    const answering: string[] = [];
    for (const [name, open] of Object.entries(DRIVERS)) {
      const driver = await open(server as unknown as TestServer, `temp-${crypto.randomUUID()}`, token);
      driver.say('echo still here');
      if ((await driver.answer()).includes('still here')) answering.push(name);
      driver.client.close();
    }
    await server.kill();
    const logged = (await log).split('\n').filter((line) => line !== '');
    return { ...fuzzed, answering, logged };
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
