/** The store that commands of the command line work on, without the rest of the server. */
import type { Store } from './stores/shared/joined.ts';
import { openSqliteStore } from './stores/sqlite/open.ts';

export type StoragePlace = { readonly folder: string } | { readonly database: string };
export type Storage = Store;

/** A large session is one append: a command may take its time. */
const DEADLINE_MS = 60_000;

const nothing = () => undefined;
const NO_LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Throws an error with one clear line. The code for databases is loaded only if it is needed. */
export async function openStorage(place: StoragePlace): Promise<Storage> {
  if ('folder' in place) return openSqliteStore(place.folder);
  const { openPostgresStore } = await import('./stores/postgres/open.ts');
  return openPostgresStore(place.database, { log: NO_LOG, deadlineMs: DEADLINE_MS });
}
