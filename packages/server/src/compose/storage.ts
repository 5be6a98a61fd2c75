/** Opens the storage: the embedded database, or one shared by several nodes. */
import { version } from '../../package.json' with { type: 'json' };
import { loadSecret } from '../accounts/secret.ts';
import type { LoginAttempts } from '../accounts/store.ts';
import type { Config } from '../config/config.ts';
import { register } from '../config/data-folder.ts';
import type { EngineParts, Log } from '../core/index.ts';
import type { Store } from '../stores/shared/store.ts';
import { openSqliteStore } from '../stores/sqlite/open.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export type Storage = {
  readonly store: Store;
  /** key for signing tokens */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** undefined for the embedded database, which belongs to this process alone */
  readonly cluster: EngineParts['cluster'];
  /** shared counter of failed logins; undefined on a single node */
  readonly loginAttempts?: LoginAttempts;
  /** Rejects if writes are currently not possible. */
  readonly writable: () => Promise<void>;
  /** Runs `work` while no other starting node runs its own. */
  readonly oneAtATime: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

export type StorageParts = { readonly log: Log; readonly metrics: Metrics };

/**
 * Registers everything it opens with `resources`. Throws an error with a one-line message if the storage
 * cannot be used.
 */
export async function openStorage(
  config: Config,
  parts: StorageParts,
  resources: AsyncDisposableStack,
): Promise<Storage> {
  if (config.database === undefined) return openEmbedded(config, parts, resources);
  const { openShared } = await import('./shared-storage.ts');
  return openShared({ ...config, database: config.database }, parts, resources);
}

async function openEmbedded(
  { data, registration, authSecret }: Config,
  { log }: StorageParts,
  resources: AsyncDisposableStack,
): Promise<Storage> {
  const store = openSqliteStore(data, { exclusive: true, release: version });
  resources.defer(() => store.close());
  if (registration && !register(data, registration.registry) && !registration.isNamed)
    log.warn({ folder: data }, 'data folder not registered: name it with --data at the next start');
  return {
    store,
    secret: await loadSecret(data, authSecret),
    cluster: undefined,
    writable: () => store.writable(),
    oneAtATime: (work) => work(),
  };
}
