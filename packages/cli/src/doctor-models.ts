/** Checks the model and its providers with the settings that a server would use, including stored ones. */
import {
  type Changeable,
  type Config,
  ConfigError,
  isVendor,
  keyProblem,
  lacksKey,
  type ModelChoice,
  VENDOR_ADDRESS,
  type Vendor,
} from '@parlance/server/config';
import type { SettingsInUse } from '@parlance/server/settings-in-use';
import type { Check } from './doctor-check.ts';

type Connected = Exclude<ModelChoice, { readonly provider: 'offline' }>;

export async function* modelChecks(config: Config, tryThem: boolean): AsyncGenerator<Check> {
  const settings = await load(config);
  if ('state' in settings) {
    yield settings;
    return;
  }
  const { current, version, problem } = settings;
  if (version > 0) yield storedSettings(problem);
  for (const choice of connectedIn(config, current)) {
    const isInUse = choice.provider === current.model.provider;
    yield await providerCheck(choice, config, { tryIt: tryThem && !isInUse });
  }
  yield await modelCheck({ ...config, model: current.model }, tryThem);
}

async function load(config: Config): Promise<SettingsInUse | Check> {
  try {
    const { settingsInUse } = await import('@parlance/server/settings-in-use');
    return await settingsInUse(config);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error instanceof ConfigError
      ? { name: 'model', state: 'bad', about: `parlance serve does not start: ${error.message}` }
      : { name: 'settings', state: 'bad', about: `cannot be read: ${error.message}` };
  }
}

const storedSettings = (problem: string | null): Check => ({
  name: 'settings',
  ...(problem === null
    ? { state: 'good', about: 'stored in the console, in use' }
    : {
        state: 'bad',
        about: `stored in the console, not in use: ${problem}`,
        advice: 'correct them in the console (Admin)',
      }),
});

/** Providers with a key or an address of their own. */
function connectedIn({ given }: Config, current: Changeable): Connected[] {
  return Object.keys(VENDOR_ADDRESS)
    .filter(isVendor)
    .flatMap((vendor) => {
      const choice = current.vendor(vendor);
      if (choice.provider === 'offline') return [];
      const isConnected =
        choice.key !== undefined ||
        choice.otherKeyAddress !== undefined ||
        choice.baseUrl !== VENDOR_ADDRESS[vendor] ||
        given.has(`${vendor}BaseUrl`);
      return isConnected ? [choice] : [];
    });
}

/** The provider of the model in use is tested with a prompt instead. */
async function providerCheck(
  choice: Connected,
  { given }: Config,
  { tryIt }: { readonly tryIt: boolean },
): Promise<Check> {
  const { provider: name, key, baseUrl: address } = choice;
  const sources = `${keySource(choice, given)}; ${addressSource(choice, given)}`;
  const problem = keyProblem(choice);
  // A server of one's own may need no key: the prompt shows it.
  if (problem !== null)
    return { name, state: lacksKey(choice) ? 'bad' : 'missing', about: sources, advice: problem };
  if (lacksKey(choice)) return { name, state: 'missing', about: sources, advice: KEY_ADVICE };
  if (!tryIt) return { name, state: 'good', about: sources };
  const { checkProvider } = await import('@parlance/server/model-check');
  const fault = await checkProvider(name, { address, key });
  return fault === null
    ? { name, state: 'good', about: `${sources}; lists its models` }
    : { name, state: 'bad', about: `${sources}: ${fault.message}` };
}

type Given = Config['given'];

function keySource({ provider, key, otherKeyAddress }: Connected, given: Given): string {
  const label = given.get(`${provider satisfies Vendor}Key`);
  if (label !== undefined) return `API key from ${label}`;
  if (otherKeyAddress !== undefined) return 'API key stored in the console, not used';
  return key === undefined ? 'no API key' : 'API key stored in the console';
}

function addressSource({ provider, baseUrl }: Connected, given: Given): string {
  const label = given.get(`${provider satisfies Vendor}BaseUrl`);
  if (label !== undefined) return `address ${baseUrl} from ${label}`;
  return baseUrl === VENDOR_ADDRESS[provider]
    ? `address ${baseUrl} by default`
    : `address ${baseUrl} stored in the console`;
}

const KEY_ADVICE = 'set the key, or enter it in the console';

async function modelCheck(config: Config, tryIt: boolean): Promise<Check> {
  const name = 'model';
  const { model } = config;
  if (model.provider === 'offline')
    return {
      name,
      state: 'missing',
      about: 'the offline demo model',
      advice: 'connect a real one with parlance init',
    };
  const about = `${model.model} (${model.provider})`;
  if (!tryIt) return { name, state: 'good', about: `${about}, not tried` };
  const { checkModel } = await import('@parlance/server/model-check');
  const fault = await checkModel(config);
  if (!fault) return { name, state: 'good', about: `${about} answers` };
  return {
    name,
    state: 'bad',
    about: `${about} does not respond: ${fault.message}`,
    advice: 'check key, model and address; parlance init writes new ones',
  };
}
