/**
 * A pool of connections, each used by one statement or transaction at a time. Each is a separate client with
 * a single connection, so that one that missed a deadline can be closed: a shared client does not reveal
 * which connection runs a statement.
 */
import type { SQL } from 'bun';

export interface ConnectionPool {
  /** Runs `work` with an exclusive client. Rejects with the result of `late` if none is free in time. */
  use<Result>(work: (client: PooledClient) => Promise<Result>): Promise<Result>;
  /** Closes all clients; waits at most this long for running statements. */
  close(seconds: number): Promise<void>;
}

export type PooledClient = {
  readonly sql: SQL;
  /** Closes the connection immediately; the next user gets a new one. */
  discard(): void;
};

export type ConnectionPoolOptions = {
  readonly connect: () => SQL;
  readonly max: number;
  readonly patienceMs: number;
  readonly late: () => Error;
};

type Waiter = { resolve(sql: SQL): void };

export function connectionPool({ connect, max, patienceMs, late }: ConnectionPoolOptions): ConnectionPool {
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
