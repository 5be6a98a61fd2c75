/** Opens a PostgreSQL database as a store shared by several nodes. */
import { eventVersion } from '@parlance/protocol';
import type { LoginAttempts, LoginLimits } from '../../accounts/store.ts';
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { type AccountDatabase, accountTables } from '../shared/accounts.ts';
import { type Changes, watchChanges } from '../shared/changes.ts';
import { closeGuard, guarded, type Store, type Wrap } from '../shared/store.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import { type Database, openDatabase, PLANNER, type Statements } from './database.ts';
import { shownUrl, storageError, storageFault, withFaults } from './errors.ts';
import { openEventLog } from './event-log.ts';
import type { QueueLimits } from './group-append.ts';
import { type Heartbeat, leaseTimes } from './heartbeat.ts';
import { joinNode, listNodes, type NodeSettings, type ThisNode, withoutNode } from './leases.ts';
import { prepareCount, prepareFindById, prepareList, prepareLookup, prepareTags } from './lists.ts';
import { prepareLoginAttempts } from './login-attempts.ts';
import { allowEvents, type Cluster, currentCluster, type Migration, migrate } from './migrations.ts';
import { prepareSearch, prepareTurns } from './search.ts';
import { bucketOf, prepareErase, prepareHead, prepareHeads, prepareLoad, prepareTouch } from './sessions.ts';

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
  readonly node: ThisNode;
  /** the newest event version that all nodes can read */
  readonly writableVersion: () => number;
  readonly options: PostgresOptions;
  readonly closeAll: () => Promise<unknown>;
};

function storeOn({ database, changes, node, writableVersion, options, closeAll }: StoreParts): Store {
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
  const accounts = accountTables(accountDatabase(database, changes.notify));
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
    ...guarded(accounts.users, whileOpen),
    ...guarded({ read: log.read, head: prepareHead(database), load: prepareLoad(database) }, ofSession),
    ...guarded(
      {
        heads: prepareHeads(database),
        findById: prepareFindById(database),
        lookup: prepareLookup(database),
        list: prepareList(database),
        count: prepareCount(database),
        tags: prepareTags(database),
      },
      ofAll,
    ),
    ...guarded({ append: log.append, touch: prepareTouch(database), size: size.current }, whileOpen),
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
    turns: guarded(prepareTurns(database), whileOpen),
    apiKeys: guarded(accounts.apiKeys, whileOpen),
    pairings: guarded(accounts.pairings, whileOpen),
    shares: guarded(accounts.shares, whileOpen),
    preferences: guarded(accounts.preferences, whileOpen),
    settings: guarded(accounts.settings, whileOpen),
    revocations: {
      ...guarded(accounts.revocations, whileOpen),
      follow: changes.follow,
      mayKeep: () => node.heartbeat.healthy,
    },
  };
}

const accountDatabase = (database: Database, changed: () => void): AccountDatabase => ({
  query: database.query,
  /** Increments `changes`, which other nodes poll, in the same statement. */
  async change(sql, values) {
    const written = await database.query(
      `WITH written AS (${sql}),
         changed AS (UPDATE cluster SET changes = changes + 1 WHERE EXISTS (SELECT 1 FROM written))
       SELECT 1 AS one FROM written`,
      values,
    );
    if (written.length > 0) changed();
    return written.length > 0;
  },
  atomically: (statements) =>
    database.transaction(async ({ query }) => {
      const running = statements();
      let step = running.next();
      while (!step.done) step = running.next(await query(...step.value));
      return step.value;
    }),
  lock: 'FOR UPDATE',
  now: '(extract(epoch FROM now()) * 1000)::bigint',
  sessionRow(ref) {
    const { owner, id } = storableRef(ref);
    return [
      'SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3',
      [bucketOf(owner), owner, id],
    ];
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
