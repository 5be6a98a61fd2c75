import type { Statements } from './database.ts';

/** Rewrites an existing value: the commit is on disk, and nothing changes. */
export const prepareProbe = (database: Statements) => async (): Promise<void> => {
  await database.query('UPDATE cluster SET id = id');
};
