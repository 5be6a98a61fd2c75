/** The store that commands of the command line work on, without the rest of the server. */
import { loadSecret, storedSecret } from './accounts/secret.ts';
import type { Store } from './stores/shared/store.ts';
import { openSqliteStore } from './stores/sqlite/open.ts';

export { type CopiedSettings, copySettings } from './copy-settings.ts';

export type StorageLocation = { readonly folder: string } | { readonly database: string };
type Secret = Uint8Array<ArrayBuffer>;

export type Storage = Store & {
  /** What a server on this store encrypts settings with. A data folder without a secret gets one. */
  secret(): Promise<Secret>;
  /** All that it may have encrypted settings with, without creating one. */
  secrets(): Promise<readonly Secret[]>;
};

/** A large session is imported in one append, so allow commands more time. */
const DEADLINE_MS = 60_000;

const nothing = () => undefined;
const NO_LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Throws an error with a one-line message. Loads the PostgreSQL code only if needed. */
export async function openStorage(place: StorageLocation): Promise<Storage> {
  const { AUTH_SECRET } = process.env;
  const given = AUTH_SECRET === undefined ? [] : [encoded(AUTH_SECRET)];
  if ('folder' in place) {
    const { folder } = place;
    return {
      ...openSqliteStore(folder),
      secret: () => loadSecret(folder, AUTH_SECRET),
      async secrets() {
        const kept = await storedSecret(folder);
        return kept === null ? given : [...given, kept];
      },
    };
  }
  const { openPostgresStore } = await import('./stores/postgres/open.ts');
  const store = await openPostgresStore(place.database, { log: NO_LOG, deadlineMs: DEADLINE_MS });
  const own = encoded(store.cluster.secret);
  return { ...store, secret: async () => given[0] ?? own, secrets: async () => [...given, own] };
}

const encoded = (text: string): Secret => new TextEncoder().encode(text);
