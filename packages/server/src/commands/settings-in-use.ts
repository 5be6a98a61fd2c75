/** The settings that a server with a configuration would use, read without starting it, for the CLI. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSetup } from '../compose/setup/open.ts';
import { type Changeable, type Config, requireKeyOf } from '../config/config.ts';
import { DIALECTS } from '../dialects/index.ts';
import { DATABASE_FILE } from '../stores/sqlite/connection.ts';
import { openStorage, type Storage } from './storage.ts';

const nothing = () => undefined;
const NO_LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export type SettingsInUse = {
  /** given settings and those that admins have stored */
  readonly current: Changeable;
  /** version of the stored settings; 0 if there are none */
  readonly version: number;
  /** why the stored settings are not in use; null if they are */
  readonly problem: string | null;
};

/**
 * Works next to a running server. Throws `ConfigError` if a server would not start with these settings, and an
 * error with a one-line message if the storage cannot be read.
 */
export async function settingsInUse(config: Config): Promise<SettingsInUse> {
  const { data, database } = config;
  if (database === undefined && !existsSync(join(data, DATABASE_FILE))) {
    requireKeyOf(config, config);
    return { current: config, version: 0, problem: null };
  }
  await using resources = new AsyncDisposableStack();
  const storage = await openStorage(database === undefined ? { folder: data } : { database });
  resources.defer(() => storage.close());
  const parts = {
    storage: { store: storage, secret: await secretOf(storage, config) },
    dialects: DIALECTS,
    log: NO_LOG,
  };
  const { live, stored } = await openSetup(config, parts, resources);
  const { version, problem } = stored.view();
  return { current: live.current, version, problem };
}

/** Without creating one. If there is none, a server could not read stored settings either. */
async function secretOf(storage: Storage, { authSecret }: Config): Promise<Uint8Array<ArrayBuffer>> {
  if (authSecret !== undefined) return new TextEncoder().encode(authSecret);
  return (await storage.secrets()).at(-1) ?? new Uint8Array(32);
}
