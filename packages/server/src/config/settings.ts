/** The table of settings: source of parsing, `--help` and the documentation. */
import { LIMITS } from './limits.ts';
import { AGENT } from './settings/agent.ts';
import { AUTH } from './settings/auth.ts';
import { CHANNELS } from './settings/channels.ts';
import { CLUSTER } from './settings/cluster.ts';
import { FILE_ONLY } from './settings/file-only.ts';
import { MODEL } from './settings/model.ts';
import { NETWORK } from './settings/network.ts';
import { OPERATION } from './settings/operation.ts';
import type { Setting } from './settings/setting.ts';
import { text } from './values.ts';

export type { Setting } from './settings/setting.ts';

/** Path of the config file. The only setting that cannot be in the file. */
export const CONFIG_FILE = {
  env: ['PARLANCE_CONFIG'],
  flag: '--config',
  argument: 'PATH',
  fallback: undefined,
  fallbackText: 'config.json in the data folder, if there is one',
  schema: text,
  description: 'a JSON file with any of these settings; never taken from the folder that tools work in',
} as const satisfies Setting;

/** In the order of the help and the documentation. */
export const SETTINGS = {
  ...NETWORK,
  ...CLUSTER,
  ...AUTH,
  ...MODEL,
  ...AGENT,
  ...OPERATION,
  ...LIMITS,
  ...CHANNELS,
  ...FILE_ONLY,
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof SETTINGS;

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];
