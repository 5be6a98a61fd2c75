/** Collects defaults, file, environment and flags per setting, by precedence. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '@parlance/protocol';
import { closest } from '../lib/closest.ts';
import { errorCode } from '../lib/errors.ts';
import { type Position, parseConfigText, positionOfValue } from './config-text.ts';
import { isRegistered, registryIn } from './data-folder.ts';
import { ConfigError } from './error.ts';
import type { Setting } from './setting.ts';
import { CONFIG_FILE, SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts';

export type SourceValue = {
  /** names the source of the value in errors */
  readonly label: string;
  readonly raw: unknown;
  /** the folder of the config file, if the value is from there */
  readonly folder?: string;
  /** where the config file has the value, or what is inside of it */
  readonly position?: (inside: readonly PropertyKey[]) => Position;
};
export type Environment = Readonly<Record<string, string | undefined>>;

type Flags = Map<SettingKey | 'config', SourceValue>;

const BY_FLAG = new Map<string, SettingKey | 'config'>([[CONFIG_FILE.flag, 'config']]);
for (const key of SETTING_KEYS) {
  const { flag, formerFlag }: Setting = SETTINGS[key];
  for (const name of [flag, formerFlag]) if (name) BY_FLAG.set(name, key);
}

export const settingOf = (key: SettingKey | 'config'): Setting =>
  key === 'config' ? CONFIG_FILE : SETTINGS[key];

/** Accepts `--flag value` and `--flag=value`. The last occurrence of a non-repeatable flag wins. */
function readFlags(argv: readonly string[]): Flags {
  const given: Flags = new Map();
  const words = argv.values();
  for (const word of words) {
    const equals = word.indexOf('=');
    const flag = equals === -1 ? word : word.slice(0, equals);
    if (!flag.startsWith('-')) throw new ConfigError(`unexpected argument "${word}" (flags start with --)`);
    const key = BY_FLAG.get(flag);
    if (key === undefined) throw new ConfigError(unknownFlag(flag));
    const value = equals === -1 ? words.next().value : word.slice(equals + 1);
    if (value === undefined || value === '' || (equals === -1 && value.startsWith('--')))
      throw new ConfigError(`${flag} needs a value`);
    const before = given.get(key)?.raw;
    const raw = settingOf(key).repeatable ? [...(Array.isArray(before) ? before : []), value] : value;
    given.set(key, { label: flag, raw });
  }
  return given;
}

function unknownFlag(flag: string): string {
  const meant = closest(flag, [...BY_FLAG.keys()]);
  return `unknown flag ${flag} (${meant === null ? '--help all lists them' : `did you mean ${meant}?`})`;
}

function readVariable(setting: Setting, env: Environment): SourceValue | undefined {
  const label = setting.env.find((name) => (env[name] ?? '') !== '');
  return label === undefined ? undefined : { label, raw: env[label] };
}

const isKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

/** In the data folder. Read if no other file is named and the folder is named or registered. */
const DATA_CONFIG_FILE = 'config.json';

type ConfigFile = {
  readonly path: string;
  /** name in errors */
  readonly name: string;
  /** the flag or variable that names it; null for the file in the data folder */
  readonly namedBy: string | null;
};

function findFile(flags: Flags, env: Environment, cwd: string): ConfigFile | null {
  const given = flags.get('config') ?? readVariable(CONFIG_FILE, env);
  if (given) {
    const name = String(given.raw);
    return { path: resolve(cwd, name), name, namedBy: given.label };
  }
  const data = flags.get('data') ?? readVariable(SETTINGS.data, env);
  const folder = resolve(cwd, String(data?.raw ?? SETTINGS.data.fallback));
  const path = join(folder, DATA_CONFIG_FILE);
  if (!existsSync(path)) return null;
  if (data === undefined && !isRegistered(folder, registryIn(env))) return null;
  return { path, name: path, namedBy: null };
}

function readText({ path, name, namedBy }: ConfigFile): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const missing = errorCode(cause) === 'ENOENT';
    throw new ConfigError(
      missing && namedBy !== null
        ? `${namedBy} names ${name}, which does not exist`
        : `the config file ${name} cannot be read`,
      { cause },
    );
  }
}

function readFile(file: ConfigFile): Map<SettingKey, SourceValue> {
  const given = new Map<SettingKey, SourceValue>();
  const folder = dirname(file.path);
  const text = readText(file);
  for (const [key, raw] of Object.entries(parseObject(text, file.name))) {
    const position = (inside: readonly PropertyKey[]) => positionOfValue(text, [key, ...inside]);
    if (!isKey(key)) throw new ConfigError(unknownSetting(key, file.name, position([])));
    if (key === 'data' && file.namedBy === null)
      throw new ConfigError(`data in ${file.name} cannot name another data folder`);
    given.set(key, { label: `${key} in ${file.name}`, raw, folder, position });
  }
  return given;
}

function unknownSetting(key: string, file: string, position: Position): string {
  const meant = closest(key, SETTING_KEYS);
  const suggestion = meant === null ? '' : ` (did you mean "${meant}"?)`;
  return `${file} has an unknown setting "${key}"${suggestion}: ${placeOf(position)}`;
}

export const placeOf = ({ line, column }: Position): string => `line ${line}, column ${column}`;

function parseObject(text: string, name: string): Record<string, unknown> {
  const parsed = parseConfigText(text);
  if ('error' in parsed) throw new ConfigError(`${name} is not valid JSON: ${placeOf(parsed.error)}`);
  if (!isObject(parsed.value)) throw new ConfigError(`${name} must hold a JSON object`);
  return parsed.value;
}

export type Sources = {
  /** the given value of each setting; absent for defaults */
  readonly given: ReadonlyMap<SettingKey, SourceValue>;
  /** absolute path of the config file that was read */
  readonly file: string | null;
};

export function readSources(argv: readonly string[], env: Environment, cwd: string): Sources {
  const flags = readFlags(argv);
  const file = findFile(flags, env, cwd);
  const settings = file ? readFile(file) : null;
  const given = new Map<SettingKey, SourceValue>();
  for (const key of SETTING_KEYS) {
    const found = flags.get(key) ?? readVariable(SETTINGS[key], env) ?? settings?.get(key);
    if (found !== undefined) given.set(key, found);
  }
  return { given, file: file?.path ?? null };
}
