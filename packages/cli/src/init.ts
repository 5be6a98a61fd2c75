/** `parlance init`: chooses a model, tests its key and writes the configuration. */
import { ask, askSecretly, choose } from './ask.ts';
import { CommandError } from './command-error.ts';
import { writePrivate } from './connection/private-file.ts';
import { newOrExistingDataFolder } from './data-folder.ts';
import { FOLDER_FLAGS, parseFlags, SWITCH, TEXT } from './flags.ts';
import {
  changedConfig,
  configPath,
  type ModelSettings,
  PROVIDERS,
  type Provider,
  withSettings,
} from './init-config.ts';
import { printStderr } from './stderr.ts';
import { safeLine } from './terminal/safe-text.ts';

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
  const { keySetting, urlSetting, urlVariable, variable, model: fallback, defaultUrl } = provider;
  const isScript = !process.stdin.isTTY;
  const baseUrl = given.baseUrl ?? (await addressFrom(urlVariable, defaultUrl));
  const named = variable === null ? undefined : process.env[variable];
  const key =
    given.key ??
    (named || (keySetting && provider.needsKey ? await askSecretly(`API key (${variable}): `) : undefined));
  if (provider.needsKey && !key?.trim()) throw new CommandError('this provider requires an API key', 2);
  const model =
    given.model ??
    (fallback === null ? undefined : isScript ? fallback : await ask(`Model [${fallback}]: `, fallback));
  return {
    provider: provider.setting,
    ...(model && { model }),
    ...(keySetting && key?.trim() && { [keySetting]: key.trim() }),
    ...(urlSetting && baseUrl && { [urlSetting]: baseUrl }),
  };
}

/** The address in the environment is used with the key that is there, as by the server. */
async function addressFrom(variable: string | null, fallback: string | null): Promise<string | null> {
  const named = (variable && process.env[variable]?.trim()) || null;
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
