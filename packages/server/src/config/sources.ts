/** Defaults, file, environment and flags, met per setting: the last of them that gives a value wins. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isObject } from '@parlance/protocol';
import { ConfigError } from './error.ts';
import { CONFIG_FILE, SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from './settings.ts';

/** `label` is how an error names the setting: by where its value came from. */
export type Given = { readonly label: string; readonly raw: unknown };
export type Environment = Readonly<Record<string, string | undefined>>;

const BY_FLAG = new Map<string, SettingKey | 'config'>([[CONFIG_FILE.flag, 'config']]);
for (const key of SETTING_KEYS) {
  const { flag } = SETTINGS[key];
  if (flag !== null) BY_FLAG.set(flag, key);
}

export const settingOf = (key: SettingKey | 'config'): Setting =>
  key === 'config' ? CONFIG_FILE : SETTINGS[key];

/** Takes `--flag value` and `--flag=value`. A flag that is not repeatable counts where it stands last. */
function readFlags(argv: readonly string[]): Map<SettingKey | 'config', Given> {
  const given = new Map<SettingKey | 'config', Given>();
  const words = argv.values();
  for (const word of words) {
    const equals = word.indexOf('=');
    const flag = equals === -1 ? word : word.slice(0, equals);
    if (!flag.startsWith('-')) throw new ConfigError(`unexpected argument "${word}"`);
    const key = BY_FLAG.get(flag);
    if (key === undefined) throw new ConfigError(`unknown flag ${flag} (--help lists them)`);
    const value = equals === -1 ? words.next().value : word.slice(equals + 1);
    if (value === undefined || value === '' || (equals === -1 && value.startsWith('--')))
      throw new ConfigError(`${flag} needs a value`);
    const before = given.get(key)?.raw;
    const raw = settingOf(key).repeatable ? [...(Array.isArray(before) ? before : []), value] : value;
    given.set(key, { label: flag, raw });
  }
  return given;
}

function readVariable(setting: Setting, env: Environment): Given | undefined {
  const label = setting.env.find((name) => (env[name] ?? '') !== '');
  return label === undefined ? undefined : { label, raw: env[label] };
}

const isKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

function readText(path: string, name: string, asked: string | null): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (missing && asked === null) return null;
    throw new ConfigError(
      missing ? `${asked} names ${name}, which does not exist` : `the config file ${name} cannot be read`,
      { cause },
    );
  }
}

function readFile(asked: Given | undefined, cwd: string): Map<SettingKey, Given> {
  const name = String(asked?.raw ?? CONFIG_FILE.fallback);
  const content = readText(resolve(cwd, name), name, asked?.label ?? null);
  const given = new Map<SettingKey, Given>();
  if (content === null) return given;
  for (const [key, raw] of Object.entries(parseObject(content, name))) {
    if (!isKey(key)) throw new ConfigError(`${name} has an unknown setting "${key}"`);
    given.set(key, { label: `${key} in ${name}`, raw });
  }
  return given;
}

function parseObject(content: string, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    // The parser's message quotes the text, which may hold secrets: neither the line nor its cause repeats it.
    throw new ConfigError(`${name} is not valid JSON`);
  }
  if (!isObject(value)) throw new ConfigError(`${name} must hold a JSON object`);
  return value;
}

/** What was given for each setting; settings at their default are absent. */
export function readSources(argv: readonly string[], env: Environment, cwd: string): Map<SettingKey, Given> {
  const flags = readFlags(argv);
  const file = readFile(flags.get('config') ?? readVariable(CONFIG_FILE, env), cwd);
  const given = new Map<SettingKey, Given>();
  for (const key of SETTING_KEYS) {
    const found = flags.get(key) ?? readVariable(SETTINGS[key], env) ?? file.get(key);
    if (found !== undefined) given.set(key, found);
  }
  return given;
}
