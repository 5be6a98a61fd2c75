/** Parses one setting with its schema. */
import { ConfigError } from './error.ts';
import type { SettingKey } from './settings.ts';
import { type Given, placeOf, settingOf } from './sources.ts';

/** Undefined if the setting has no value and no default. Throws `ConfigError`, without the value of a secret. */
export function parse(key: SettingKey, given: Given | undefined): unknown {
  const setting = settingOf(key);
  if (given === undefined && setting.fallback === undefined) return undefined;
  const result = setting.schema().safeParse(given === undefined ? setting.fallback : given.raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const index = issue?.path[0];
  const entry = setting.secret && typeof index === 'number' ? ` entry ${index + 1}` : '';
  const message = issue?.message ?? 'is wrong';
  const shown = !setting.secret && typeof given?.raw === 'string' && message.startsWith('must be');
  const position = given?.position?.(issue?.path ?? []);
  const place = position ? `: ${placeOf(position)}` : '';
  throw new ConfigError(
    `${given?.label ?? key}${entry} ${message}${shown ? `, not "${given.raw}"` : ''}${place}`,
  );
}
