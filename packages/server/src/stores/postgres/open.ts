/** Opens a PostgreSQL database as a store shared by several nodes. */
import { eventVersion } from '@parlance/protocol';
import type { Log } from '../../core/ports/logger.ts';
import type { LoginAttempts, LoginLimits } from '../../core/ports/login-attempts.ts';
import type { Store } from '../shared/combine-stores.ts';
import { watchChanges } from './changes.ts';
import { type Database, openDatabase, type Statements } from './database.ts';
import { storageError, withFaults } from './errors.ts';
import type { Heartbeat } from './heartbeat.ts';
import { leaseTimes } from './lease-times.ts';
import { prepareLoginAttempts } from './login-attempts.ts';
import { allowEvents, type Cluster, currentCluster, migrate } from './migrate.ts';
import type { Migration } from './migrations.ts';
import { joinNode, type NodeSettings, withoutNode } from './node.ts';
import { PLANNER } from './planner.ts';
import { withStartLock } from './start-lock.ts';
import { type StoreOptions, storeOn } from './store.ts';

export type PostgresOptions = StoreOptions & {
  /** for heartbeats and migrations, if `url` points to a pooler */
  readonly directUrl?: string;
  /** maximum number of connections for statements */
  readonly connections?: number;
  /** timeout of a statement */
  readonly deadlineMs?: number;
  /** set if this process is a node that drives sessions, unlike CLI commands */
  readonly node?: NodeSettings;
  readonly log: Log;
  /** for tests: the migrations of this release */
  readonly migrations?: readonly Migration[];
};

export type PostgresStore = Store & {
  readonly cluster: Cluster;
  readonly heartbeat: Pick<Heartbeat, 'age' | 'busDown' | 'eventVersion' | 'setBusDown'>;
  /** Calls the listener after a failover: sessions in memory may be ahead of the database. */
  readonly onFailover: (listener: () => void) => () => void;
  /** Counts failed logins across all nodes. */
  readonly loginAttempts: (limits: LoginLimits) => LoginAttempts;
  /** Runs `work` while no other process starting on this database runs its own. */
  readonly oneAtATime: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

const CONNECTIONS = 8;
const DEADLINE_MS = 2_500;
/** A migration may take long. */
const MIGRATION_MS = 3_600_000;

/**
 * Throws an error with a one-line message, without changing anything, if the database cannot be reached or
 * used, or belongs to a newer version.
 */
export async function openPostgresStore(url: string, options: PostgresOptions): Promise<PostgresStore> {
  const { directUrl = url, connections = CONNECTIONS, deadlineMs = DEADLINE_MS, node } = options;
  const opened: Database[] = [];
  const open = (...given: Parameters<typeof openDatabase>) => {
    const database = openDatabase(...given);
    opened.push(database);
    return database;
  };
  try {
    const cluster = await prepared(directUrl, options);
    const pooled = directUrl !== url;
    const database = open(url, { max: connections, deadlineMs, name: 'parlance', settings: PLANNER, pooled });
    const changes = watchChanges(node ? null : database);
    const join = (settings: NodeSettings) =>
      joinNode({
        settings,
        eventVersion: eventVersion(options.upcasts),
        database,
        direct: open(directUrl, {
          max: 1,
          deadlineMs: leaseTimes(settings.leaseMs).fenceMs,
          name: 'parlance heartbeat',
          settings: { ...PLANNER, synchronous_commit: 'off' },
        }),
        log: options.log,
        onChanges: changes.notify,
        onNewEvents: (version) => whileStarting(directUrl, (held) => allowEvents(held, version)),
      });
    const thisNode = node
      ? await whileStarting(directUrl, async (held) => {
          // Check again under the lock: nodes of a newer version may have allowed their events.
          await currentCluster(held, { ...options, url: directUrl });
          return join(node);
        })
      : withoutNode();
    const store = storeOn({
      database,
      changes,
      node: thisNode,
      writableVersion: () => (node ? thisNode.heartbeat.eventVersion : cluster.eventVersion),
      options,
      closeAll: () => closeAll(opened),
    });
    return {
      ...store,
      cluster,
      heartbeat: thisNode.heartbeat,
      onFailover: thisNode.onFailover,
      loginAttempts: (limits) => countedWithFaults(prepareLoginAttempts(database)(limits)),
      oneAtATime: (work) => whileStarting(directUrl, work),
    };
  } catch (error) {
    await closeAll(opened);
    throw storageError(error, url);
  }
}

const countedWithFaults = ({ begin, succeeded }: LoginAttempts): LoginAttempts => ({
  begin: withFaults(begin),
  succeeded: withFaults(succeeded),
});

const closeAll = (databases: readonly Database[]) =>
  Promise.all(databases.map((database) => database.close()));

/** Uses the normal deadline until a migration is needed, so that a wrong address fails quickly. */
async function prepared(url: string, options: PostgresOptions): Promise<Cluster> {
  const deadlineMs = Math.min(options.deadlineMs ?? DEADLINE_MS, DEADLINE_MS);
  const first = openDatabase(url, { max: 1, deadlineMs, name: 'parlance start' });
  try {
    return (
      (await currentCluster(first, { ...options, url })) ??
      (await whileStarting(url, (statements) => migrate(statements, { ...options, url }), MIGRATION_MS))
    );
  } finally {
    await first.close();
  }
}

async function whileStarting<Result>(
  url: string,
  work: (statements: Statements) => Promise<Result>,
  deadlineMs = DEADLINE_MS,
): Promise<Result> {
  const database = openDatabase(url, { max: 1, deadlineMs, name: 'parlance start' });
  try {
    return await withStartLock(database, url, work);
  } finally {
    await database.close();
  }
}
