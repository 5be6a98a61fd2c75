/** What the server stores in: the embedded database, or one that several nodes share. */
import { version } from '../../package.json' with { type: 'json' };
import { loadSecret } from '../auth/secret.ts';
import type { Config } from '../config/config.ts';
import { register } from '../config/data-folder.ts';
import type { EngineParts, Log } from '../core/api/index.ts';
import type { LoginAttempts } from '../core/ports/login-attempts.ts';
import type { Store } from '../stores/shared/joined.ts';
import { openSqliteStore } from '../stores/sqlite/open.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export type Storage = {
  readonly store: Store;
  /** signs tokens */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** undefined for the embedded database, which is this process's alone */
  readonly cluster: EngineParts['cluster'];
  /** failed logins of all nodes; undefined if there is only this one */
  readonly loginAttempts?: LoginAttempts;
  /** Rejects if nothing can be stored now. */
  readonly writable: () => Promise<void>;
  /** Runs `work` while no other node that starts runs its own. */
  readonly oneAtATime: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

export type StorageParts = { readonly log: Log; readonly metrics: Metrics };

/** What is opened is closed by `resources`. Throws one clear line if the storage cannot be used. */
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
