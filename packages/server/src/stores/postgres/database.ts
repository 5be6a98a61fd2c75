/**
 * Runs PostgreSQL statements with our own deadline: Bun's client has none, and a frozen or unreachable server
 * never responds. A connection that missed a deadline is closed.
 */

import { SQL } from 'bun';

export type Row = Readonly<Record<string, unknown>>;

export interface Statements {
  /** Rejects with `DeadlineExceeded`, or with the error of the client or the server. */
  query(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Statements {
  /**
   * Runs `work` in a transaction on one connection. Commits when it resolves, rolls back when it rejects.
   * Rejects with `CommitUnknown` if the response to the commit was lost.
   */
  transaction<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Runs `work` on one connection, outside of a transaction. */
  onOne<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Waits for running statements until their deadline. */
  close(): Promise<void>;
}

type DatabaseOptions = {
  /** maximum number of connections */
  readonly max: number;
  /** per statement, and for waiting for a connection */
  readonly deadlineMs: number;
  /** name of the connections in `pg_stat_activity` */
  readonly name: string;
  /** settings of each connection */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** connects through a pooler, which rejects settings: the role must have them */
  readonly pooled?: boolean;
};

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
  constructor(ms: number) {
    super(`the database did not answer within ${ms} ms`);
  }
}

/** The transaction may or may not be committed. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { max, deadlineMs } = options;
  const late = () => new DeadlineExceeded(deadlineMs);
  const pool = connectionPool({ connect: () => connect(url, options), max, patienceMs: deadlineMs, late });

  const run = (sql: SQL, client: PooledClient, [text, values = []]: Parameters<Statements['query']>) => {
    const query = sql.unsafe<Row[]>(text, [...values]);
    // The server may still execute the statement.
    return inTime(query, deadlineMs, () => {
      query.cancel();
      client.discard();
    });
  };

  /** Reserves a connection: if it is lost, later statements fail instead of running on another one. */
  const onOne: Database['onOne'] = (work) =>
    pool.use(async (client) => {
      const reserved = await inTime(client.sql.reserve(), deadlineMs, client.discard);
      try {
        return await work({ query: (...statement) => run(reserved, client, statement) });
      } finally {
        // Close a connection that is not released in time, so that nothing waits for it forever.
        await inTime(reserved.release(), deadlineMs, client.discard).catch(() => client.discard());
      }
    });

  return {
    query: (...statement) => pool.use((client) => run(client.sql, client, statement)),
    onOne,
    transaction: (work) => onOne((statements) => inTransaction(statements, work)),
    close: () => pool.close(deadlineMs / 1000),
  };
}

/** Rejects with `DeadlineExceeded` after this time, and calls `giveUp`. */
export function inTime<Result>(
  query: Promise<Result>,
  milliseconds: number,
  giveUp: () => void = () => undefined,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => {
    reject(new DeadlineExceeded(milliseconds));
    giveUp();
  }, milliseconds);
  query.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

function connect(url: string, { deadlineMs, name, settings, pooled }: DatabaseOptions): SQL {
  const own = pooled ? {} : { ...serverTimeouts(deadlineMs), ...settings };
  return new SQL(url, {
    adapter: 'postgres',
    database: databaseIn(url),
    max: 1,
    connectionTimeout: Math.max(1, Math.ceil(deadlineMs / 1000)),
    connection: { application_name: name, ...own },
    // A pooler may use a different connection per transaction, which does not have the prepared statement.
    prepare: !pooled,
  });
}

/** The database name in the URL. Without it, `PGDATABASE` in the environment would take precedence. */
function databaseIn(url: string): string | undefined {
  const { pathname, searchParams } = new URL(url);
  return searchParams.get('dbname') ?? (decodeURIComponent(pathname.slice(1)) || undefined);
}

/**
 * The server times out before we do, so that a statement that waits for a lock or runs too long is known to
 * have failed. Only an unresponsive server reaches our deadline.
 */
const serverTimeouts = (deadlineMs: number) => ({
  statement_timeout: Math.round(deadlineMs * 0.8),
  lock_timeout: Math.round(deadlineMs * 0.6),
  idle_in_transaction_session_timeout: deadlineMs,
});

async function inTransaction<Result>(
  statements: Statements,
  work: (statements: Statements) => Promise<Result>,
): Promise<Result> {
  await statements.query('BEGIN');
  let result: Result;
  try {
    result = await work(statements);
  } catch (error) {
    // If this fails as well, the connection is gone or will be closed on release, and the server rolls back.
    await statements.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  const answer = await statements.query('COMMIT').catch((error) => {
    throw new CommitUnknown('the response to a commit was lost', { cause: error });
  });
  // COMMIT rolls back a transaction in which a statement has failed.
  if ('command' in answer && answer.command === 'ROLLBACK')
    throw new Error('a transaction was committed although a statement of it had failed');
  return result;
}

// A pool of connections, each used by one statement or transaction at a time. Each is a separate client with
// a single connection, so that one that missed a deadline can be closed: a shared client does not reveal
// which connection runs a statement.

interface ConnectionPool {
  /** Runs `work` with an exclusive client. Rejects with the result of `late` if none is free in time. */
  use<Result>(work: (client: PooledClient) => Promise<Result>): Promise<Result>;
  /** Closes all clients; waits at most this long for running statements. */
  close(seconds: number): Promise<void>;
}

type PooledClient = {
  readonly sql: SQL;
  /** Closes the connection immediately; the next user gets a new one. */
  discard(): void;
};

type ConnectionPoolOptions = {
  readonly connect: () => SQL;
  readonly max: number;
  readonly patienceMs: number;
  readonly late: () => Error;
};

type Waiter = { resolve(sql: SQL): void };

function connectionPool({ connect, max, patienceMs, late }: ConnectionPoolOptions): ConnectionPool {
  const free: SQL[] = [];
  const all = new Set<SQL>();
  /** oldest first */
  const waiters = new Set<Waiter>();

  function make(): SQL {
    const sql = connect();
    all.add(sql);
    return sql;
  }

  function acquire(): SQL | Promise<SQL> {
    const idle = free.pop();
    if (idle) return idle;
    if (all.size < max) return make();
    const { promise, resolve, reject } = Promise.withResolvers<SQL>();
    const timer = setTimeout(() => {
      waiters.delete(waiter);
      reject(late());
    }, patienceMs);
    const waiter: Waiter = {
      resolve(sql) {
        clearTimeout(timer);
        resolve(sql);
      },
    };
    waiters.add(waiter);
    return promise;
  }

  function giveBack(sql: SQL): void {
    const [waiter] = waiters;
    if (!waiter) return void free.push(sql);
    waiters.delete(waiter);
    waiter.resolve(sql);
  }

  return {
    async use(work) {
      const sql = await acquire();
      let discarded = false;
      try {
        return await work({
          sql,
          discard() {
            if (discarded) return;
            discarded = true;
            all.delete(sql);
            // No need to wait: this connection is not used any more.
            sql.close({ timeout: 0 }).catch(() => undefined);
          },
        });
      } finally {
        if (!discarded) giveBack(sql);
        else if (waiters.size > 0) giveBack(make());
      }
    },
    async close(seconds) {
      await Promise.all([...all].map((sql) => sql.close({ timeout: seconds })));
    },
  };
}

/** Plans each statement once, for large tables, so that indexes are used from the first row. */
export const PLANNER = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};
