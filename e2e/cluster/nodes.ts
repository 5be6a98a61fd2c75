/** PostgreSQL, Valkey or Redis, and nodes of the server over them, all as separate processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type PostgresEngine,
  postgresPrograms,
  startPostgres,
} from '../../packages/server/src/testing/engines/postgres.ts';
import type { Engine } from '../../packages/server/src/testing/engines/program.ts';
import { redisProgram, startRedis } from '../../packages/server/src/testing/engines/redis.ts';
import { type Program, type ServerProcess, type StartingProcess, spawnProcess } from '../server-process.ts';

/** Why the tests cannot run; null if they can. */
export const missing: string | null = !postgresPrograms
  ? 'PostgreSQL is not installed'
  : !redisProgram
    ? 'neither valkey-server nor redis-server is installed'
    : null;

export type ThreeNodes = readonly [ServerProcess, ServerProcess, ServerProcess];

/** For tests without failing nodes: a busy machine must not look like a failed node. */
export const LONG_LEASE = { PARLANCE_LEASE: '20000' };

export type Cluster = {
  readonly postgres: PostgresEngine;
  readonly redis: Engine;
  /** settings of every node */
  readonly settings: Readonly<Record<string, string>>;
  /** the shared working directory */
  readonly folder: string;
  /** Starts another node; `program` as in `spawnProcess`. */
  start(settings?: Record<string, string>, program?: Program): Promise<ServerProcess>;
  /** Starts three nodes. */
  startThree(settings?: Record<string, string>): Promise<ThreeNodes>;
  stop(): Promise<void>;
  /** Kills all processes at once, for an `exit` handler, which cannot wait. */
  abandon(): void;
};

/** `postgresSettings` have the form `name=value`; instead of them, a server can be given. */
export async function startCluster(
  common: Record<string, string> = {},
  postgresSettings: readonly string[] | PostgresEngine = [],
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-cluster-'));
  const [postgres, redis] = await Promise.all([
    'url' in postgresSettings ? postgresSettings : startPostgres(postgresSettings),
    startRedis(),
  ]);
  const settings = {
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    WORKING_DIRECTORY: folder,
    // A busy machine must not look like a failed node.
    PARLANCE_LEASE: '5000',
    LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
    ...common,
  };
  const started: ServerProcess[] = [];
  const spawned: StartingProcess[] = [];
  const start = async (own: Record<string, string> = {}, program?: Program) => {
    const data = mkdtempSync(join(folder, `node-${spawned.length + 1}-`));
    const starting = spawnProcess(data, { ...settings, ...own }, program);
    spawned.push(starting);
    const node = await starting.listening;
    started.push(node);
    return node;
  };
  return {
    postgres,
    redis,
    settings,
    folder,
    start,
    startThree: (own) => Promise.all([start(own), start(own), start(own)]),
    async stop() {
      await Promise.all(spawned.map((node) => node.kill()));
      if (process.env.TEST_LOG) for (const node of started) console.error(node.http, await node.stderr());
      await Promise.all([postgres.stop(), redis.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
    abandon() {
      for (const engine of [...spawned, postgres, redis]) void engine.kill();
    },
  };
}
