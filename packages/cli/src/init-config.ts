/** The configuration written by `parlance init`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError, loadConfig } from '@parlance/server/config';
import { CommandError } from './command-error.ts';
import { readPrivate, writePrivate } from './connection/private-file.ts';

/** Settings of the config file. */
export type ModelSettings = Readonly<Record<string, string>> & { readonly provider: string };

export type Provider = {
  readonly name: string;
  /** value of the setting `provider` */
  readonly setting: 'openai' | 'anthropic' | 'google' | 'offline';
  readonly keySetting: string | null;
  readonly urlSetting: string | null;
  /** environment variable that may contain the key */
  readonly variable: string | null;
  /** environment variable that may contain the address */
  readonly urlVariable: string | null;
  readonly needsKey: boolean;
  /** default model; null if there is none to choose */
  readonly model: string | null;
  /** asked for if set */
  readonly defaultUrl: string | null;
};

export const PROVIDERS: readonly Provider[] = [
  vendor('openai', 'gpt-4o-mini'),
  vendor('anthropic', 'claude-opus-4-7'),
  vendor('google', 'gemini-2.5-flash'),
  {
    ...vendor('openai', 'llama3.3'),
    name: 'self-hosted',
    needsKey: false,
    defaultUrl: 'http://127.0.0.1:11434/v1',
  },
  {
    name: 'offline',
    setting: 'offline',
    keySetting: null,
    urlSetting: null,
    variable: null,
    urlVariable: null,
    needsKey: false,
    model: null,
    defaultUrl: null,
  },
];

function vendor(name: 'openai' | 'anthropic' | 'google', model: string): Provider {
  return {
    name,
    setting: name,
    keySetting: `${name}Key`,
    urlSetting: `${name}BaseUrl`,
    variable: `${name.toUpperCase()}_API_KEY`,
    urlVariable: `${name.toUpperCase()}_BASE_URL`,
    needsKey: true,
    model,
    defaultUrl: null,
  };
}

/** Model settings that a new choice replaces. */
const REPLACED = PROVIDERS.flatMap(({ keySetting, urlSetting }) => [keySetting, urlSetting]);

export const configPath = (folder: string): string => join(folder, 'config.json');

/** The changed text of the file. Throws if it is not a JSON object. */
export function changedConfig(path: string, settings: ModelSettings): string {
  const { provider: _, model: __, openaiModel: ___, ...kept } = readConfig(path);
  for (const name of REPLACED) if (name !== null) delete kept[name];
  return `${JSON.stringify({ ...kept, ...settings }, null, 2)}\n`;
}

function readConfig(path: string): Record<string, unknown> {
  const text = readPrivate(path);
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The parser's message quotes the text, which may contain secrets.
  }
  throw new CommandError(`${path} is not a JSON object: correct or remove it first`, 1);
}

/** Runs `work` with the configuration of a server with these settings only, ignoring the environment. */
export async function withSettings<Result>(
  settings: ModelSettings,
  run: (config: Config) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-init-'));
  try {
    const path = join(folder, 'config.json');
    writePrivate(path, JSON.stringify(settings));
    return await run(loadConfig(['--config', path, '--data', join(folder, 'data')], {}, folder));
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message, 2, { cause: error });
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
