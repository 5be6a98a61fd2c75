/** Help text and documentation tables of the settings. */
import { LIMITS, type LimitSetting } from './limits.ts';
import type { Setting } from './setting.ts';
import { CONFIG_FILE, SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts';

function defaultText({ fallback, fallbackText }: Setting): string {
  if (fallbackText !== undefined) return fallbackText;
  if (fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)) return 'none';
  return String(fallback);
}

function entry([key, setting]: readonly [string, Setting]): string {
  const { flag, env, argument } = setting;
  const head = flag === undefined ? env.join(', ') || key : `${flag} ${argument}`;
  const places =
    flag === undefined ? (env.length === 0 ? 'file only' : 'environment or file only') : env.join(', ');
  const repeatable = setting.repeatable ? '; repeatable, or a comma list' : '';
  return `  ${head}\n      ${setting.description}\n      [${places}${repeatable}; default: ${defaultText(setting)}]`;
}

/** The most common settings. */
const COMMON = [
  'port',
  'host',
  'auth',
  'data',
  'cwd',
  'model',
  'openaiKey',
  'openaiBaseUrl',
  'anthropicKey',
  'approval',
] as const satisfies readonly SettingKey[];

const HEAD = `Usage: parlance serve [flags]

A flag takes precedence over its environment variable, which takes precedence over the config file.
`;

const entries = (keys: readonly SettingKey[]): string =>
  keys.map((key) => entry([key, SETTINGS[key]])).join('\n');

export const helpText = (): string =>
  `${HEAD}\n${entries(COMMON)}\n\nparlance serve --help all lists all settings.`;

export const fullHelpText = (): string =>
  `${HEAD}\n${entry(['config', CONFIG_FILE])}\n${entries(SETTING_KEYS)}\n\nKeys of the config file: ${SETTING_KEYS.join(', ')}`;

const cell = (value: string) => value.replaceAll('|', '\\|');

/** The table of settings as Markdown, for the documentation. */
export function settingsMarkdown(): string {
  const rows = SETTING_KEYS.map((key) => {
    const setting: Setting = SETTINGS[key];
    const flag = setting.flag === undefined ? '' : `${setting.flag} ${setting.argument}`;
    const cells = [setting.env.join(', '), flag, key, defaultText(setting), setting.description];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return ['| environment | flag | file | default | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The limits as Markdown, with the effect of reaching each. */
export function limitsMarkdown(): string {
  const rows = Object.entries<LimitSetting>(LIMITS).map(([key, limit]) => {
    const places = [...limit.env, limit.flag, key].map((name) => `\`${name}\``).join(', ');
    const number = Number(limit.fallback).toLocaleString('en-US');
    const fallback = limit.fallbackText ?? `${number}${UNITS[limit.argument] ?? ''}`;
    return `| ${[limit.description, fallback, places, limit.reached].map(cell).join(' | ')} |`;
  });
  return ['| limit | default | setting | what happens at it |', '|---|---|---|---|', ...rows].join('\n');
}

const UNITS: Readonly<Record<string, string>> = { BYTES: ' bytes', MS: ' ms', CHARACTERS: ' characters' };
