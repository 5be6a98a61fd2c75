/** Opens a PostgreSQL database as a store shared by several nodes. */
import { eventVersion } from '@parlance/protocol';
import type { LoginAttempts, LoginLimits } from '../../accounts/store.ts';
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { accountTables } from '../shared/accounts.ts';
import { type Changes, watchChanges } from '../shared/changes.ts';
import type { SharedDatabase } from '../shared/database.ts';
import { sessionQueries, turnQueries } from '../shared/sessions.ts';
import { closeGuard, guarded, guardedEach, type Store, type Wrap } from '../shared/store.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import { usageQueries } from '../shared/usage.ts';
import { type ConfirmedChanges, confirmedChanges } from './confirmed-changes.ts';
import { type Database, openDatabase, PLANNER, type Statements } from './database.ts';
import { shownUrl, storageError, storageFault, withFaults } from './errors.ts';
import { openEventLog } from './event-log.ts';
import type { QueueLimits } from './group-append.ts';
import { type Heartbeat, leaseTimes } from './heartbeat.ts';
import { listNodes, type NodeSettings, type ThisNode, thisNode } from './leases.ts';
import { prepareLoginAttempts } from './login-attempts.ts';
import { allowEvents, type Cluster, currentCluster, FLAGS, type Migration, migrate } from './migrations.ts';
import { prepareSearch } from './search.ts';
import { bucketOf, prepareErase, prepareHeads } from './sessions.ts';

export type PostgresOptions = EventOptions & {
  readonly queue?: QueueLimits;
  /** called with the number of appends of each commit */
  readonly onCommit?: (appends: number) => void;
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
  /** for messages between nodes about changes of users, keys and settings */
  readonly changes: Pick<Changes, 'notify'> & Pick<ConfirmedChanges, 'confirmWith'>;
  /** Calls the listener after a failover: sessions in memory may be ahead of the database. */
  readonly onFailover: (listener: () => void) => () => void;
  /** Counts failed logins across all nodes. */
  readonly loginAttempts: (limits: LoginLimits) => LoginAttempts;
  /** Runs `work` while no other process starting on this database runs its own. */
  readonly oneAtATime: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

const CONNECTIONS = 8;
const LOOK_MS = 400;
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
    // A node learns of changes by other processes from its heartbeat.
    const changes = watchChanges(node ? null : { version: () => changesIn(database), everyMs: LOOK_MS });
    const joined = thisNode({
      settings: node ?? {},
      eventVersion: eventVersion(options.upcasts),
      database,
      direct: node
        ? open(directUrl, {
            max: 1,
            deadlineMs: leaseTimes(node.leaseMs).fenceMs,
            name: 'parlance heartbeat',
            settings: { ...PLANNER, synchronous_commit: 'off' },
          })
        : database,
      log: options.log,
      onChanges: changes.notify,
      onNewEvents: (version) => whileStarting(directUrl, (held) => allowEvents(held, version)),
    });
    if (node)
      await whileStarting(directUrl, async (held) => {
        // Check again under the lock: nodes of a newer version may have allowed their events.
        await currentCluster(held, { ...options, url: directUrl });
        await joined.join();
      });
    const confirmed = confirmedChanges(database, joined.leases.node);
    const store = storeOn({
      database,
      changes,
      confirmed,
      node: joined,
      writableVersion: () => (node ? joined.heartbeat.eventVersion : cluster.eventVersion),
      options,
      closeAll: () => closeAll(opened),
    });
    return {
      ...store,
      cluster,
      changes: { notify: changes.notify, confirmWith: confirmed.confirmWith },
      heartbeat: joined.heartbeat,
      onFailover: joined.onFailover,
      loginAttempts: (limits) => guarded(prepareLoginAttempts(database)(limits), withFaults),
      oneAtATime: (work) => whileStarting(directUrl, work),
    };
  } catch (error) {
    await closeAll(opened);
    throw storageError(error, url);
  }
}

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

// Lets one process at a time prepare the database: apply migrations, create the first user.

/** "Parl" in ASCII. */
const LOCK = 0x5061726c;
const AGAIN_MS = 50;
const PATIENCE_MS = 120_000;

/**
 * Polls for the lock instead of waiting in the database: a waiting statement would block CREATE INDEX
 * CONCURRENTLY of the holder. The lock ends with its connection.
 */
function withStartLock<Result>(
  database: Database,
  url: string,
  work: (statements: Statements) => Promise<Result>,
): Promise<Result> {
  return database.onOne(async (statements) => {
    const giveUp = performance.now() + PATIENCE_MS;
    for (;;) {
      const [row] = await statements.query('SELECT pg_try_advisory_lock($1) AS locked', [LOCK]);
      if (row?.locked) break;
      if (performance.now() > giveUp)
        throw new Error(`${shownUrl(url)} has been locked by the upgrade of another node for too long`);
      await Bun.sleep(AGAIN_MS);
    }
    try {
      return await work(statements);
    } finally {
      await statements.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    }
  });
}

/** Grows with every change of users, API keys, pairings, settings and revocations. */
async function changesIn(database: Statements): Promise<unknown> {
  const [row] = await database.query('SELECT changes FROM cluster');
  return row?.changes;
}

type StoreParts = {
  readonly database: Database;
  readonly changes: Changes;
  readonly confirmed: ConfirmedChanges;
  readonly node: ThisNode;
  /** the newest event version that all nodes can read */
  readonly writableVersion: () => number;
  readonly options: PostgresOptions;
  readonly closeAll: () => Promise<unknown>;
};

function storeOn({
  database,
  changes,
  confirmed,
  node,
  writableVersion,
  options,
  closeAll,
}: StoreParts): Store {
  const size = prepareSize(database);
  const erase = prepareErase(database);
  const log = openEventLog({
    ...options,
    database,
    held: node.held,
    appender: node.appender,
    writableVersion,
    onAppend: size.add,
    onCommit: options.onCommit ?? (() => undefined),
  });
  const shared = sharedDatabase(database, () => {
    changes.notify();
    return confirmed.known();
  });
  const { head, load, touch, ...lists } = sessionQueries(shared);
  const { users, revocations, ...accounts } = accountTables(shared);
  const { whileOpen, close } = closeGuard(storageFault);
  /**
   * Another connection may see a commit before its response arrives: reads wait until pending appends have
   * resolved, those of one session for its appends.
   */
  const acknowledged =
    (keyOf: (given: readonly unknown[]) => string | undefined): Wrap =>
    (read) =>
      whileOpen(async (...given) => {
        const result = await read(...given);
        await log.groups.inFlight(keyOf(given));
        return result;
      });
  const ofAll = acknowledged(() => undefined);
  const ofSession = acknowledged(([ref]) => sessionKey(storableRef(ref as SessionRef)));

  return {
    ...guarded(users, whileOpen),
    ...guarded({ read: log.read, head, load }, ofSession),
    ...guarded({ ...lists, heads: prepareHeads(database) }, ofAll),
    ...guarded({ append: log.append, touch, size: size.current }, whileOpen),
    ...guardedEach(accounts, whileOpen),
    exclusively: (ref, work) => whileOpen(() => log.exclusively(ref, work))(),
    writable: whileOpen(async () => {
      // Rewrites an existing value: the commit is on disk, and nothing changes.
      await database.query('UPDATE cluster SET id = id');
    }),
    erase: whileOpen(async (given) => {
      const ref = storableRef(given);
      // after earlier requests
      const erased = await node.held.changing(ref, () =>
        log.groups.runExclusive(sessionKey(ref), () => erase(ref)),
      );
      node.held.forget(ref);
      size.forget();
      return erased;
    }),
    /** Writes the queue first. Closing twice does nothing. */
    async close() {
      if (!close()) return;
      changes.stop();
      await log.groups.flush();
      await node.leave();
      await closeAll();
    },
    leases: node.leases,
    nodes: whileOpen(() => listNodes(database)),
    search: guarded(prepareSearch(database, log.read), whileOpen),
    turns: guarded(turnQueries(shared), whileOpen),
    usage: guarded(usageQueries(shared), whileOpen),
    revocations: {
      ...guarded(revocations, whileOpen),
      follow: changes.follow,
      mayKeep: () => node.heartbeat.healthy,
    },
  };
}

/** A change resolves after `changed`. */
export const sharedDatabase = (database: Database, changed: () => Promise<void>): SharedDatabase => ({
  query: database.query,
  /** Increments `changes`, which other nodes poll, in the same statement. */
  async change(sql, values) {
    const written = await database.query(
      `WITH written AS (${sql}),
         changed AS (UPDATE cluster SET changes = changes + 1 WHERE EXISTS (SELECT 1 FROM written))
       SELECT 1 AS one FROM written`,
      values,
    );
    if (written.length > 0) await changed();
    return written.length > 0;
  },
  atomically: (statements) =>
    database.transaction(async ({ query }) => {
      const running = statements();
      let step = running.next();
      while (!step.done) step = running.next(await query(...step.value));
      return step.value;
    }),
  dialect: {
    lock: 'FOR UPDATE',
    now: '(extract(epoch FROM now()) * 1000)::bigint',
    position: 'strpos',
    elements: {
      tags: 'jsonb_array_elements_text(tags) AS tag (value)',
      labels: 'jsonb_each_text(labels)',
    },
    titled: (grams, most) =>
      `SELECT candidate FROM titled(string_to_array(${grams}, ' '), ${most}) AS titled (candidate)`,
    ...FLAGS,
    key: ['bucket', 'owner', 'id'],
    keyOf(ref) {
      const { owner, id } = storableRef(ref);
      return [bucketOf(owner), owner, id];
    },
    // Each branch reads no more rows than a page has.
    merge: (selects, order, max) =>
      `SELECT * FROM (${selects.map((select) => `(${select} ${order} LIMIT ${max})`).join(' UNION ALL ')}) AS found`,
  },
});

// Approximate size of all data in bytes.

/** Measures the database again after this time, because other nodes write as well. */
const MEASURE_MS = 5_000;

interface Size {
  current(): Promise<number>;
  add(characters: number): void;
  /** Call if data may have been removed. */
  forget(): void;
}

function prepareSize(database: Statements): Size {
  let measured = 0;
  let added = 0;
  let askAgain = 0;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    const before = added;
    const [row] = await database.query(
      `SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
    );
    measured = Number(row?.bytes ?? 0);
    // appends during the measurement may or may not be included
    added -= before;
    askAgain = performance.now() + MEASURE_MS;
  }

  return {
    async current() {
      if (performance.now() >= askAgain) {
        asking ??= ask().finally(() => {
          asking = null;
        });
        await asking;
      }
      return measured + added;
    },
    add(characters) {
      added += characters;
    },
    forget() {
      askAgain = 0;
    },
  };
}
