/**
 * Statements on PostgreSQL, each within a deadline of ours: Bun's client has none, and a server that is frozen or cut off
 * never answers. A connection that missed a deadline is closed.
 */
import { SQL } from 'bun';
import { connectionPool, type PooledClient } from './connection-pool.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Statements {
  /** Rejects with `DeadlineExceeded`, or with what the client or the server reports. */
  query(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Statements {
  /**
   * Runs `work` in one transaction on one connection. Commits when it resolves, rolls back when it rejects. Rejects with
   * `CommitUnknown` if the answer to the commit was lost.
   */
  transaction<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Runs `work` on one connection, outside of a transaction. */
  onOne<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
  /** Waits for running statements until their deadline. */
  close(): Promise<void>;
}

export type DatabaseOptions = {
  /** most connections */
  readonly max: number;
  /** for each statement, and for waiting for a connection */
  readonly deadlineMs: number;
  /** name of the connections in `pg_stat_activity` */
  readonly name: string;
  /** settings of each connection */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** connects through a pooler, which refuses settings: the role must have them */
  readonly pooled?: boolean;
};

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
  constructor(ms: number) {
    super(`the database did not answer within ${ms} ms`);
  }
}

/** The transaction may be committed or not. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { max, deadlineMs } = options;
  const late = () => new DeadlineExceeded(deadlineMs);
  const pool = connectionPool({ connect: () => connect(url, options), max, patienceMs: deadlineMs, late });

  const run = (sql: SQL, client: PooledClient, [text, values = []]: Parameters<Statements['query']>) => {
    const query = sql.unsafe<Row[]>(text, [...values]);
    // What the server was asked may still be executed.
    return inTime(query, deadlineMs, () => {
      query.cancel();
      client.discard();
    });
  };

  /** A reserved connection: if it is lost, later statements fail instead of running on another one. */
  const onOne: Database['onOne'] = (work) =>
    pool.use(async (client) => {
      const reserved = await inTime(client.sql.reserve(), deadlineMs, client.discard);
      try {
        return await work({ query: (...statement) => run(reserved, client, statement) });
      } finally {
        // A connection that cannot be given back in time is closed: nothing may wait for it without an end.
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
  asked: Promise<Result>,
  milliseconds: number,
  giveUp: () => void = () => undefined,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => {
    reject(new DeadlineExceeded(milliseconds));
    giveUp();
  }, milliseconds);
  asked.then(resolve, reject).finally(() => clearTimeout(timer));
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
    // A pooler gives each transaction another connection, which does not know the statement.
    prepare: !pooled,
  });
}

/** The database in the URL: without this, `PGDATABASE` in the environment would take priority over it. */
function databaseIn(url: string): string | undefined {
  const { pathname, searchParams } = new URL(url);
  return searchParams.get('dbname') ?? (decodeURIComponent(pathname.slice(1)) || undefined);
}

/**
 * The server gives up before we do, so that a statement that waits for a lock or runs for too long is known to have
 * failed. Only a server that does not answer at all reaches the deadline.
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
    // If this fails, too, the connection is gone or is closed on release, and the server rolls back.
    await statements.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  const answer = await statements.query('COMMIT').catch((error) => {
    throw new CommitUnknown('the answer to a commit was lost', { cause: error });
  });
  // A transaction in which a statement failed is rolled back by COMMIT.
  if ('command' in answer && answer.command === 'ROLLBACK')
    throw new Error('a transaction was committed although a statement of it had failed');
  return result;
}
