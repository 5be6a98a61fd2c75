/** `parlance init`: chooses a model, tests its key and writes the configuration. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '@parlance/protocol';
import {
  addressSetting,
  addressVariable,
  type Config,
  ConfigError,
  keySetting,
  loadConfig,
  parseConfigText,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
  withSetting,
} from '@parlance/server/config';
import { CommandError, FOLDER_FLAGS, parseFlags, printStderr, SWITCH, TEXT } from '../command.ts';
import { newOrExistingDataFolder } from '../connection/data-folder.ts';
import { readPrivate, writePrivate } from '../connection/private-file.ts';
import { ask, askSecretly, choose } from '../terminal/ask.ts';
import { safeLine } from '../terminal/safe-text.ts';

// The configuration written by `parlance init`.

/** Settings of the config file. */
type ModelSettings = Readonly<Record<string, string>> & { readonly provider: string };

type Provider = {
  readonly name: string;
  /** null: the offline model, which needs nothing */
  readonly vendor: Vendor | null;
  readonly needsKey: boolean;
  /** default model; null if there is none to choose */
  readonly model: string | null;
  /** asked for if set */
  readonly defaultUrl: string | null;
};

const PROVIDERS: readonly Provider[] = [
  ...VENDOR_NAMES.map((vendor) => ({
    name: vendor,
    vendor,
    needsKey: true,
    model: VENDORS[vendor].model,
    defaultUrl: null,
  })),
  {
    name: 'self-hosted',
    vendor: 'openai',
    needsKey: false,
    model: 'llama3.3',
    defaultUrl: 'http://127.0.0.1:11434/v1',
  },
  { name: 'offline', vendor: null, needsKey: false, model: null, defaultUrl: null },
];

/** Model settings that a new choice replaces. */
const REPLACED = VENDOR_NAMES.flatMap((vendor) => [keySetting(vendor), addressSetting(vendor)]);

const configPath = (folder: string): string => join(folder, 'config.json');

/** The changed text of the file, with its comments. Throws if it is not a JSON object. */
function changedConfig(path: string, settings: ModelSettings): string {
  const text = readPrivate(path);
  if (text === null) return `${JSON.stringify(settings, null, 2)}\n`;
  const parsed = parseConfigText(text);
  if ('error' in parsed || !isObject(parsed.value))
    throw new CommandError(`${path} is not a JSON object: correct or remove it first`, 1);
  const names = new Set(['provider', 'model', 'openaiModel', ...REPLACED, ...Object.keys(settings)]);
  return [...names].reduce((changed, name) => withSetting(changed, name, settings[name]), text);
}

/** Runs `work` with the configuration of a server with these settings only, ignoring the environment. */
async function withSettings<Result>(
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

const USAGE = `Usage: parlance init

Asks for the provider of the model, its key and the model, tries them with a short prompt, and
writes config.json in the data folder with mode 0600. Other settings in it stay.

  --provider NAME   ${PROVIDERS.map(({ name }) => name).join(', ')}; do not ask
  --key KEY         the API key. Safer: the variable of the provider, or standard input
  --base-url URL    the address of a self-hosted model, or of a proxy. Without it: the variable
                    of the provider, such as OPENAI_BASE_URL
  --model NAME      the model
  --no-test         do not try it
  --data FOLDER     the data folder (PARLANCE_DATA), ./.parlance`;

export async function init(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...FOLDER_FLAGS,
    provider: TEXT,
    key: TEXT,
    'base-url': TEXT,
    model: TEXT,
    'no-test': SWITCH,
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (positionals.length > 0) throw new CommandError('init takes no argument', 2);
  const provider = await providerFrom(values.provider);
  const settings = await settingsFrom(provider, {
    key: values.key,
    baseUrl: values['base-url'],
    model: values.model,
  });
  const folder = newOrExistingDataFolder(values);
  const path = configPath(folder);
  const text = changedConfig(path, settings);
  if (!values['no-test']) await tryModel(settings);
  writePrivate(path, text);
  console.log(`wrote ${path}`);
  printStderr('start the server with parlance serve, or talk to the agent with parlance chat');
  return 0;
}

async function providerFrom(name: string | undefined): Promise<Provider> {
  const names = PROVIDERS.map((provider) => provider.name);
  const chosen = name ?? (await choose('Which model do you want to use?', names, names[0] ?? ''));
  const found = PROVIDERS.find((provider) => provider.name === chosen);
  if (!found) throw new CommandError(`--provider must be one of ${names.join(', ')}, not "${chosen}"`, 2);
  return found;
}

type InitFlags = {
  readonly key: string | undefined;
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
};

async function settingsFrom(provider: Provider, given: InitFlags): Promise<ModelSettings> {
  const { vendor, model: fallback, defaultUrl } = provider;
  if (vendor === null) return { provider: 'offline' };
  const { variables } = VENDORS[vendor];
  const isScript = !process.stdin.isTTY;
  const baseUrl = given.baseUrl ?? (await addressFrom(addressVariable(vendor), defaultUrl));
  const named = variables.map((variable) => process.env[variable]).find((value) => value);
  const key =
    given.key ??
    named ??
    (provider.needsKey ? await askSecretly(`API key (${variables.join(' or ')}): `) : undefined);
  if (provider.needsKey && !key?.trim()) throw new CommandError('this provider requires an API key', 2);
  const model =
    given.model ??
    (fallback === null ? undefined : isScript ? fallback : await ask(`Model [${fallback}]: `, fallback));
  return {
    provider: vendor,
    ...(model && { model }),
    ...(key?.trim() && { [keySetting(vendor)]: key.trim() }),
    ...(baseUrl && { [addressSetting(vendor)]: baseUrl }),
  };
}

/** The address in the environment is used with the key that is there, as by the server. */
async function addressFrom(variable: string, fallback: string | null): Promise<string | null> {
  const named = process.env[variable]?.trim() || null;
  if (fallback !== null) return ask(`Address [${named ?? fallback}]: `, named ?? fallback);
  if (named !== null) printStderr(`using the address in ${variable}: ${safeLine(named)}`);
  return named;
}

/** Throws if the model does not respond. */
async function tryModel(settings: ModelSettings): Promise<void> {
  if (settings.provider === 'offline') return;
  printStderr(`trying ${settings.model ?? settings.provider} …`);
  const { checkModel } = await import('@parlance/server/model-check');
  const fault = await withSettings(settings, checkModel);
  if (fault)
    throw new CommandError(
      `the model does not respond: ${safeLine(fault.message)} Nothing was written (--no-test skips this).`,
      1,
    );
}
