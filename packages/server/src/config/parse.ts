/** Parses one setting with its schema. */
import { messageOf } from '../lib/schema-messages.ts';
import { ConfigError } from './error.ts';
import type { SettingKey } from './settings.ts';
import { placeOf, type SourceValue, settingOf } from './sources.ts';

/** Undefined if the setting has no value and no default. Throws `ConfigError`, without the value of a secret. */
export function parse(key: SettingKey, given: SourceValue | undefined): unknown {
  const setting = settingOf(key);
  if (given === undefined && setting.fallback === undefined) return undefined;
  const raw = given === undefined ? setting.fallback : given.raw;
  const result = setting.schema().safeParse(raw, { error: messageOf });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path ?? [];
  const [index] = path;
  const isSecretEntry = setting.secret && typeof index === 'number';
  const entry = isSecretEntry ? ` entry ${index + 1}` : '';
  const message = issue?.message ?? 'is wrong';
  const shown = !setting.secret && typeof given?.raw === 'string' && message.startsWith('must be');
  const position = given?.position?.(path);
  const place = position ? `: ${placeOf(position)}` : '';
  const name = nameOf(given?.label ?? key, key, isSecretEntry ? [] : path);
  throw new ConfigError(`${name}${entry} ${message}${shown ? `, not "${given.raw}"` : ''}${place}`);
}

/** `agents in FILE` with the path of a value inside of it: `agents[0].name in FILE`. */
function nameOf(label: string, key: string, path: readonly PropertyKey[]): string {
  if (!label.startsWith(key)) return label;
  const inside = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return `${key}${inside}${label.slice(key.length)}`;
}
