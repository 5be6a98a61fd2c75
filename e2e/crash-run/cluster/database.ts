/**
 * PostgreSQL with a synchronous standby, each on its own small disk. If disks cannot be mounted, they are in
 * the folder for temporary files.
 */
import { chmodSync } from 'node:fs';
import { type PostgresEngine, startPostgres } from '../../../packages/server/src/testing/engines/postgres.ts';
import { until } from '../../../packages/server/src/testing/until.ts';
import { mountDisk, noDisk, type SmallDisk } from '../../small-disk.ts';

const DISK_MEGABYTES = 400;

const SETTINGS = [
  'wal_retrieve_retry_interval=100ms',
  // Log segments must not fill the disk by themselves.
  'max_wal_size=64MB',
  'wal_keep_size=64MB',
];

export type ReplicatedDatabase = PostgresEngine & {
  /** Kills the primary and promotes the standby; resolves when it accepts writes. */
  failOver(): Promise<void>;
  /** Starts a new standby; resolves when it is synchronous. */
  addStandby(): Promise<void>;
  /** Fills the disk of the primary completely. */
  fillDisk(): void;
  freeDisk(): void;
  /** Ends everything at once, for an `exit` handler, which cannot wait. */
  abandon(): void;
};

type Server = { readonly engine: PostgresEngine; readonly disk: SmallDisk | null };

async function startServer(standbyOf?: PostgresEngine): Promise<Server> {
  const disk = noDisk ? null : mountDisk(DISK_MEGABYTES);
  // PostgreSQL runs as another user.
  if (disk) chmodSync(disk.path, 0o777);
  const place = disk ? { within: disk.path } : {};
  return { engine: await startPostgres(SETTINGS, { ...place, ...(standbyOf && { standbyOf }) }), disk };
}

async function stopServer({ engine, disk }: Server): Promise<void> {
  await engine.stop();
  disk?.[Symbol.dispose]();
}

export async function startReplicated(): Promise<ReplicatedDatabase> {
  let primary = await startServer();
  let standby: Server | null = null;

  /** Not with the arguments of the server: a standby that is promoted waits for nobody at first. */
  async function setSynchronous(names: string): Promise<void> {
    await primary.engine.execute(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await primary.engine.execute('SELECT pg_reload_conf()');
  }

  const isReplicating = (condition: string) =>
    until(async () => {
      const rows = await primary.engine.execute(`SELECT 1 FROM pg_stat_replication WHERE ${condition}`);
      return rows.length > 0;
    });

  async function addStandby(): Promise<void> {
    standby = await startServer(primary.engine);
    // Commits would wait for it before it can answer.
    await isReplicating("state = 'streaming'");
    await setSynchronous('*');
    await isReplicating("sync_state = 'sync'");
  }
  await addStandby();

  return {
    get url() {
      return primary.engine.url;
    },
    get port() {
      return primary.engine.port;
    },
    kill: () => primary.engine.kill(),
    restart: () => primary.engine.restart(),
    pause: () => primary.engine.pause(),
    resume: () => primary.engine.resume(),
    createDatabase: (template) => primary.engine.createDatabase(template),
    dropDatabase: (url) => primary.engine.dropDatabase(url),
    execute: (statement) => primary.engine.execute(statement),
    shutDown: () => primary.engine.shutDown(),
    async stop() {
      await Promise.all([primary, standby].map((server) => server && stopServer(server)));
    },
    async failOver() {
      if (!standby) throw new Error('there is no standby');
      const failed = primary;
      await failed.engine.kill();
      primary = standby;
      standby = null;
      await primary.engine.execute('SELECT pg_promote()');
      await setSynchronous('');
      await stopServer(failed);
    },
    addStandby,
    fillDisk: () => primary.disk?.fill(),
    freeDisk: () => primary.disk?.free(),
    abandon() {
      for (const server of [primary, standby]) {
        void server?.engine.kill();
        server?.disk?.[Symbol.dispose]();
      }
    },
  };
}
