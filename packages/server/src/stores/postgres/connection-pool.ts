/**
 * Connections that are used by one statement or transaction at a time. Each is a client of its own with one connection, so
 * that the one that missed a deadline can be closed: a shared client does not tell which connection a statement runs on.
 */
import type { SQL } from 'bun';

export interface ConnectionPool {
  /** Runs `work` with a client that nothing else uses. Rejects with what `late` makes if none is free in time. */
  use<Result>(work: (client: PooledClient) => Promise<Result>): Promise<Result>;
  /** Closes every client, waiting for running statements at most this long. */
  close(seconds: number): Promise<void>;
}

export type PooledClient = {
  readonly sql: SQL;
  /** Closes the connection now; the next user gets another one. */
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
    const known = free.pop();
    if (known) return known;
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
            // Not waited for: nothing is expected of this connection any more.
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
