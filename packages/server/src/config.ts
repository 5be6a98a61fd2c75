/** What the operator decided: defaults < config file < environment < flags. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { ConfigError } from './config/error.ts';
import { chooseModel, MODEL_SETTINGS, type ModelChoice } from './config/model.ts';
import { SETTING_KEYS, type SETTINGS, type SettingKey } from './config/settings.ts';
import { type Environment, type Given, readSources, settingOf } from './config/sources.ts';

export { ConfigError } from './config/error.ts';
export { helpText, limitsMarkdown, settingsMarkdown } from './config/help.ts';
export { contextLimitOf, type ModelChoice } from './config/model.ts';
export { SETTINGS, type Setting } from './config/settings.ts';
export type { ConfiguredUser, DialectName, Door } from './config/values.ts';

type Table = typeof SETTINGS;
type Values = {
  readonly [Key in SettingKey]:
    | z.output<ReturnType<Table[Key]['schema']>>
    | (undefined extends Table[Key]['fallback'] ? undefined : never);
};

/** `data` and `cwd` are absolute paths; relative ones are taken from the folder the server was started in. */
export type Config = Settled & {
  readonly auth: 'open' | 'required';
  readonly model: ModelChoice;
  /** another model, as an agent names it; throws `ConfigError` where its key is missing */
  readonly modelNamed: (model: string) => ModelChoice;
};

/** Settings that the configuration does not carry on: `auth` and `model` say what follows from them. */
const SETTLED: ReadonlySet<string> = new Set([...MODEL_SETTINGS, 'auth', 'database', 'redis']);
type Settled = Omit<Values, 'auth' | 'database' | 'redis' | (typeof MODEL_SETTINGS)[number]>;

function parse(key: SettingKey, given: Given | undefined): unknown {
  const setting = settingOf(key);
  if (given === undefined && setting.fallback === undefined) return undefined;
  const result = setting.schema().safeParse(given === undefined ? setting.fallback : given.raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const index = issue?.path[0];
  const entry = setting.secret && typeof index === 'number' ? ` entry ${index + 1}` : '';
  const message = issue?.message ?? 'is wrong';
  const shown = !setting.secret && typeof given?.raw === 'string' && message.startsWith('must be');
  throw new ConfigError(`${given?.label ?? key}${entry} ${message}${shown ? `, not "${given.raw}"` : ''}`);
}

/** Loopback: what only this machine can reach. */
const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

function chooseAuth(host: string, auth: Config['auth'] | undefined): Config['auth'] {
  if (auth === 'required' || isLoopback(host)) return auth ?? 'open';
  throw new ConfigError(
    `host ${host} is not loopback: PARLANCE_AUTH=required (or --auth required) is needed to listen there`,
  );
}

function checkPorts({ port, doors }: Config): void {
  const taken = new Set([port]);
  for (const door of doors) {
    if (door.port !== 0 && taken.has(door.port))
      throw new ConfigError(`door ${door.dialect}=${door.port} uses a port that is taken by another door`);
    taken.add(door.port);
  }
}

function existingFolder(path: string, label: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new ConfigError(`${label} must be an existing folder, not "${path}"`);
}

/** Throws `ConfigError`. Reads the config file and looks whether `cwd` exists; touches nothing else. */
export function loadConfig(argv: readonly string[], env: Environment, cwd: string): Config {
  const given = readSources(argv, env, cwd);
  const values = Object.fromEntries(SETTING_KEYS.map((key) => [key, parse(key, given.get(key))])) as Values;
  const rest = Object.fromEntries(Object.entries(values).filter(([key]) => !SETTLED.has(key))) as Settled;
  const config: Config = {
    ...rest,
    auth: chooseAuth(values.host, values.auth),
    model: chooseModel(values),
    modelNamed: (model) => chooseModel({ ...values, model, provider: undefined }),
    data: resolve(cwd, values.data),
    cwd: existingFolder(resolve(cwd, values.cwd), given.get('cwd')?.label ?? 'cwd'),
  };
  checkPorts(config);
  return Object.freeze(config);
}

/** The data folder alone, for commands that work on it without a server. The other settings may be wrong. */
export function loadDataFolder(argv: readonly string[], env: Environment, cwd: string): string {
  return resolve(cwd, String(parse('data', readSources(argv, env, cwd).get('data'))));
}
