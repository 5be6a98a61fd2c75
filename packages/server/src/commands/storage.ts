/** The store that commands of the command line work on, without the rest of the server. */
import type { JsonObject } from '@parlance/protocol';
import { seal, unseal } from '../accounts/seal.ts';
import { loadSecret, storedSecret } from '../accounts/secret.ts';
import type { Store } from '../stores/shared/store.ts';
import { openSqliteStore } from '../stores/sqlite/open.ts';

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
  const { openPostgresStore } = await import('../stores/postgres/open.ts');
  const store = await openPostgresStore(place.database, { log: NO_LOG, deadlineMs: DEADLINE_MS });
  const own = encoded(store.cluster.secret);
  return { ...store, secret: async () => given[0] ?? own, secrets: async () => [...given, own] };
}

const encoded = (text: string): Secret => new TextEncoder().encode(text);

// Copies what admins have set from one store to another.

type Source = Pick<Storage, 'settings' | 'secrets'>;
type Target = Pick<Storage, 'settings' | 'secret'>;

export type CopiedSettings = {
  /** the number of documents */
  readonly copied: number;
  /** the stored setup is encrypted with a secret that is not known here, and was not copied */
  readonly unreadable: boolean;
};

/** Documents that the target has already stay as they are. */
export async function copySettings(from: Source, to: Target): Promise<CopiedSettings> {
  let copied = 0;
  const copy = async (name: string, changed: (value: JsonObject) => Promise<JsonObject | null>) => {
    const found = await from.settings.read(name);
    if (found === null || (await to.settings.read(name)) !== null) return true;
    const value = await changed(found.value);
    if (value !== null && (await to.settings.write(name, value, 0))) copied++;
    return value !== null;
  };
  await copy('prices', async (value) => value);
  const isReadable = await copy('setup', async ({ sealed }) => resealed(String(sealed), from, to));
  return { copied, unreadable: !isReadable };
}

/** Encrypted for the target; null if none of the secrets of the source fits. */
async function resealed(sealed: string, from: Source, to: Target): Promise<JsonObject | null> {
  for (const secret of await from.secrets()) {
    const opened = await unseal(sealed, secret);
    if (opened) return { sealed: await seal(opened, await to.secret()) };
  }
  return null;
}
