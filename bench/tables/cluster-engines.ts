/** PostgreSQL and Valkey or Redis for a measurement, with an empty database. */
import { postgresPrograms, startPostgres } from '../../packages/server/src/testing/engines/postgres.ts';
import { redisProgram, startRedis } from '../../packages/server/src/testing/engines/redis.ts';

export type Engines = AsyncDisposable & {
  readonly database: string;
  /** another database of the same server, for queries that are not counted */
  readonly observer: string;
  readonly redis: string;
};

/** Null if both are installed. */
export function missingEngine(): string | null {
  if (!postgresPrograms) return 'PostgreSQL is not installed';
  return redisProgram ? null : 'neither valkey-server nor redis-server is installed';
}

export async function startEngines(): Promise<Engines> {
  // As in production: a commit waits for the disk.
  const [postgres, redis] = await Promise.all([startPostgres(['fsync=on']), startRedis()]);
  return {
    database: await postgres.createDatabase(),
    observer: postgres.url,
    redis: redis.url,
    async [Symbol.asyncDispose]() {
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}
