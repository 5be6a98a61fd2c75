/** Configuration by precedence: flags > environment > config file > defaults. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { addressSetting, keySetting, VENDOR_NAMES, type Vendor } from '../providers/vendors.ts';
import { type Changeable, changeableWith, type StoredSettings, startedIn } from './changeable.ts';
import { isRegistered, refuseTracked, refuseUnregistered, registryIn } from './data-folder.ts';
import { ConfigError } from './error.ts';
import { isInstallation, WORKSPACE } from './installation.ts';
import { MODEL_SETTINGS, requireKey } from './model.ts';
import { parse } from './parse.ts';
import { SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts';
import { type Environment, readSources, type SourceValue } from './sources.ts';

export { closest } from '../lib/closest.ts';
export {
  addressParts,
  addressSetting,
  addressVariable,
  isVendor,
  keySetting,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
  vendorsMarkdown,
} from '../providers/vendors.ts';
export {
  type Changeable,
  STORED_KEYS,
  STORED_LISTS,
  type StoredKey,
  type StoredSettings,
} from './changeable.ts';
export { parseConfigText, withSetting } from './config-text.ts';
export { beginDataFolder } from './data-folder.ts';
export { ConfigError } from './error.ts';
export { fullHelpText, helpText, limitsMarkdown, settingsMarkdown } from './help.ts';
export { installCommand, packageFolders } from './installation.ts';
export { isSameAddress } from './key-address.ts';
export {
  isConnected,
  isElsewhere,
  keyProblem,
  knownContextLimit,
  lacksKey,
  type ModelChoice,
  modelsOfChain,
  requireKey,
  STORED_MODEL_SETTINGS,
} from './model.ts';
export type { Setting } from './setting.ts';
export type { ConfiguredUser, ListenerAddress } from './values.ts';
export { SETTINGS };

type Table = typeof SETTINGS;
type Values = {
  readonly [Key in SettingKey]:
    | z.output<ReturnType<Table[Key]['schema']>>
    | (Table[Key] extends { readonly fallback: infer Fallback } ? Extract<Fallback, undefined> : undefined);
};

export type Registration = {
  /** null if the environment provides no location for it */
  readonly registry: string | null;
  /** whether the operator named the folder explicitly */
  readonly isNamed: boolean;
};

/**
 * `data`, `cwd`, `tools`, `workFolders`, `trustedFolders` and `skillFolders` are absolute paths. Relative paths are resolved against the folder in
 * which the server was started, or, for the last three in the config file, against the file's folder.
 */
export type Config = Settled & {
  /** working directory of tools; the default workspace may not exist yet */
  readonly cwd: string;
  /** absolute path of the config file in use */
  readonly configFile: string | null;
  /** files that look like a configuration but are not read */
  readonly ignoredFiles: readonly string[];
  /** how to register the data folder for the next start; null if it is registered */
  readonly registration: Registration | null;
  readonly auth: 'open' | 'required';
  /** sessions may work in any folder, because the only caller is the user of this process; not a setting */
  readonly anyFolder?: boolean;
  /** the same settings combined with those stored by admins; throws `ConfigError` if they conflict */
  readonly changeable: (stored: StoredSettings) => Changeable;
  /** the flag, variable or file entry that sets each given setting */
  readonly given: ReadonlyMap<SettingKey, string>;
} & Changeable;

/** Settings that are not part of `Config`: `auth` and `model` contain the result. */
const SETTLED: ReadonlySet<string> = new Set([...MODEL_SETTINGS, 'auth', 'cwd']);
type Settled = Omit<Values, 'auth' | 'cwd' | keyof Changeable | (typeof MODEL_SETTINGS)[number]>;

/** Addresses that only this machine can reach. */
const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

function chooseAuth(host: string, auth: Config['auth'] | undefined): Config['auth'] {
  if (auth === 'required' || isLoopback(host)) return auth ?? 'open';
  throw new ConfigError(
    `host ${host} is not loopback: PARLANCE_AUTH=required (or --auth required) is needed to listen there`,
  );
}

/**
 * The default secret of the Pusher application is public, so anyone could publish although a login is
 * required. Throws `ConfigError`. A server without a port has no such callers.
 */
export function checkChannels({ auth, channels, channelsSecret }: Config): void {
  if (auth === 'required' && channels && channelsSecret === SETTINGS.channelsSecret.fallback)
    throw new ConfigError(
      'the default SOCKUDO_APP_SECRET is public, and a login is required: set SOCKUDO_APP_SECRET to a secret of your own, or PARLANCE_CHANNELS=off',
    );
}

function checkPorts({ port, listeners }: Config): void {
  const taken = new Set([port]);
  for (const listener of listeners) {
    if (listener.port !== 0 && taken.has(listener.port))
      throw new ConfigError(
        `--listen ${listener.dialect}=${listener.port}: another listener of this server has port ${listener.port}; choose another one`,
      );
    taken.add(listener.port);
  }
}

function checkBus({ database, redis }: Config): void {
  if (redis !== undefined && database === undefined)
    throw new ConfigError(
      'REDIS_URL is the bus between nodes: it needs DATABASE_URL, the database they share',
    );
}

function existingFolder(path: string, label: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new ConfigError(`${label} must be an existing folder, not "${path}"`);
}

/** Without a setting, tools work in the current folder, but never in the server's own code. */
function chooseWorkingDirectory(
  given: SourceValue | undefined,
  chosen: string | undefined,
  cwd: string,
): string {
  if (chosen !== undefined) return existingFolder(resolve(cwd, chosen), given?.label ?? 'cwd');
  return isInstallation(existingFolder(realpathSync(cwd), 'the current folder')) ? WORKSPACE : cwd;
}

const CONFIG_FILE_OF_A_FOLDER = 'parlance.json';

/** A file in a folder that tools or a clone can write to is never read implicitly. */
const ignoredIn = (folders: readonly string[], used: string | null): string[] =>
  [...new Set(folders.map((folder) => join(folder, CONFIG_FILE_OF_A_FOLDER)))].filter(
    (path) => path !== used && existsSync(path),
  );

/** Throws `ConfigError` if the model that the settings name needs a key and has none. */
export function requireKeyOf({ given }: Pick<Config, 'given'>, { model }: Pick<Changeable, 'model'>): void {
  const address = model.provider === 'offline' ? undefined : given.get(addressSetting(model.provider));
  requireKey(model, given.get('provider') ?? given.get('model') ?? address);
}

/** For error messages that users of the server see: without the path of the file. */
function keyNamesIn(given: ReadonlyMap<SettingKey, SourceValue>): Partial<Record<Vendor, string>> {
  return Object.fromEntries(
    VENDOR_NAMES.flatMap((vendor) => {
      const key = keySetting(vendor);
      const { label, folder } = given.get(key) ?? {};
      if (label === undefined) return [];
      return [[vendor, folder === undefined ? label : `${key} in the config file`]];
    }),
  );
}

/** Throws `ConfigError`. Reads the config file and checks the named folders; changes nothing. */
export function loadConfig(argv: readonly string[], env: Environment, cwd: string): Config {
  const { given, file } = readSources(argv, env, cwd);
  const values = Object.fromEntries(SETTING_KEYS.map((key) => [key, parse(key, given.get(key))])) as Values;
  const rest = Object.fromEntries(Object.entries(values).filter(([key]) => !SETTLED.has(key))) as Settled;
  const workingDirectory = chooseWorkingDirectory(given.get('cwd'), values.cwd, cwd);
  const data = resolve(cwd, values.data);
  const registry = registryIn(env);
  const mcpServers = file ? startedIn(dirname(file), values.mcpServers) : values.mcpServers;
  // Browsers may call from the server's own address.
  const allowedOrigins = [
    ...new Set([...(values.publicUrl ? [values.publicUrl] : []), ...values.allowedOrigins]),
  ];
  const base = { ...values, mcpServers, allowedOrigins, keyNames: keyNamesIn(given) };
  const changeable = (stored: StoredSettings) => changeableWith(base, stored);
  const config: Config = {
    ...rest,
    auth: chooseAuth(values.host, values.auth),
    ...changeable({}),
    changeable,
    given: new Map([...given].map(([key, { label }]) => [key, label])),
    data,
    ...Object.fromEntries(
      (['tools', 'prompts', 'resources', 'workFolders', 'trustedFolders', 'skillFolders'] as const).map(
        (name) => [name, values[name].map((path) => resolve(given.get(name)?.folder ?? cwd, path))],
      ),
    ),
    cwd: workingDirectory,
    configFile: file,
    ignoredFiles: ignoredIn([cwd, workingDirectory], file),
    registration: isRegistered(data, registry) ? null : { registry, isNamed: given.has('data') },
  };
  // A data folder or a database may have a stored key.
  if (values.database === undefined && !existsSync(data)) requireKeyOf(config, config);
  checkPorts(config);
  checkBus(config);
  if (!given.has('data')) {
    refuseTracked(data);
    refuseUnregistered(data, registry);
  }
  return Object.freeze(config);
}

/** Loads only the data folder, for commands that work without a server. Other settings may be invalid. */
export function loadDataFolder(argv: readonly string[], env: Environment, cwd: string): string {
  return resolve(cwd, String(parse('data', readSources(argv, env, cwd).given.get('data'))));
}

/** Loads only the shared database, like `loadDataFolder`; undefined if none is configured. */
export function loadDatabase(argv: readonly string[], env: Environment, cwd: string): string | undefined {
  const database = parse('database', readSources(argv, env, cwd).given.get('database'));
  return database === undefined ? undefined : String(database);
}
