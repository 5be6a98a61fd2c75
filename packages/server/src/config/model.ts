/** Selects the model and its address. */
import { namesOfChain } from '../lib/model-chain.ts';
import { knownContextSize } from '../providers/catalogue.ts';
import {
  addressSetting,
  isVendor,
  keySetting,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
  type VendorApi,
} from '../providers/vendors.ts';
import { ConfigError } from './error.ts';
import { isSameAddress } from './key-address.ts';

type Connection = {
  readonly model: string;
  readonly key: string | undefined;
  /** what error messages call the key; undefined if there is none */
  readonly keyName: string | undefined;
  /** the address of a stored key that was entered for another one: then `key` is undefined */
  readonly otherKeyAddress?: string | undefined;
  readonly baseUrl: string;
};

export type ModelChoice =
  | { readonly provider: 'offline' }
  | ({ readonly provider: Vendor; readonly api: VendorApi } & Connection);

type VendorSettings = { readonly [Key in `${Vendor}${'Key' | 'BaseUrl'}`]?: string };

export type ModelSettings = VendorSettings & {
  readonly provider?: Vendor | 'offline';
  readonly model?: string;
  readonly openaiModel?: string;
  readonly openaiApi?: 'responses' | 'chat';
  /** the flag, variable or file entry that sets a key; the others are stored */
  readonly keyNames?: Readonly<Partial<Record<Vendor, string>>>;
  /** the address that each stored key was entered for; keys of older releases have none */
  readonly keyAddresses?: Readonly<Partial<Record<Vendor, string>>>;
};

/** Settings of the model that admins can change at run time. */
export const STORED_MODEL_SETTINGS = [
  'provider',
  'model',
  'openaiApi',
  ...VENDOR_NAMES.flatMap((vendor) => [keySetting(vendor), addressSetting(vendor)]),
] as const satisfies (keyof ModelSettings)[];

export const MODEL_SETTINGS = ['openaiModel', ...STORED_MODEL_SETTINGS] as const;

const MAX_CHAIN = 8;

/** The models of a chain such as `gpt-5.5,claude-opus-4-7`: the first one answers, the others if it cannot. Throws `ConfigError`. */
export function modelsOfChain(names: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = new Set(namesOfChain(names));
  if ([first, ...rest].includes('')) throw new ConfigError(`the model "${names}" has an empty name`);
  if (rest.length >= MAX_CHAIN) throw new ConfigError(`a chain has at most ${MAX_CHAIN} models: "${names}"`);
  return [first, ...rest];
}

/** The server's own model. Its key may be missing: see `requireKey`. */
export function chooseModel(settings: ModelSettings): ModelChoice {
  const { model } = settings;
  const provider = settings.provider ?? (model === undefined ? byKey(settings) : byName(model, settings));
  return connectionTo(provider, settings, model);
}

/**
 * A model of an agent or a session. A server of one's own that was chosen as the provider has models with any
 * name; otherwise the name decides. `VENDOR:NAME` names the provider. The key may be missing, as in `chooseModel`.
 */
export function modelNamed(settings: ModelSettings, name: string): ModelChoice {
  const own = chooseModel(settings);
  const { provider, model } = splitName(name);
  if (provider !== undefined) return connectionTo(provider, settings, model);
  if (own.provider !== 'offline' && own.model === name) return own;
  const chosen = hasOwnAddress(settings) ? settings.provider : undefined;
  return connectionTo(
    chosen !== undefined && name !== 'offline' ? chosen : byName(name, settings),
    settings,
    name,
  );
}

/** Splits a name such as `openai:gpt-5`. Other colons belong to the name: `llama3:8b`. */
function splitName(name: string): { readonly provider?: Vendor; readonly model: string } {
  const at = name.indexOf(':');
  const [provider, model] = [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
  return isVendor(provider) && model !== '' ? { provider, model } : { model: name };
}

const isConfigured = (vendor: Vendor, settings: ModelSettings): boolean =>
  (settings[keySetting(vendor)] ?? settings[addressSetting(vendor)]) !== undefined;

/** Whether the model is not at the vendor's own address. */
export const isElsewhere = (choice: ModelChoice): boolean =>
  choice.provider !== 'offline' && choice.baseUrl !== VENDORS[choice.provider].address;

/** Whether a vendor has a key, if only one for another address, or an address of its own. */
export const isConnected = (choice: ModelChoice): boolean =>
  choice.provider !== 'offline' &&
  (choice.key !== undefined || choice.otherKeyAddress !== undefined || isElsewhere(choice));

/** Whether the provider is chosen and is not at the vendor's address. */
export function hasOwnAddress({ provider, ...settings }: ModelSettings): boolean {
  if (provider === undefined || provider === 'offline') return false;
  const address = settings[addressSetting(provider)];
  return address !== undefined && address !== VENDORS[provider].address;
}

function connectionTo(
  provider: Vendor | 'offline',
  settings: ModelSettings,
  name: string | undefined,
): ModelChoice {
  if (provider === 'offline') return { provider };
  const { address, api, model } = VENDORS[provider];
  const baseUrl = settings[addressSetting(provider)] ?? address;
  const connection = { provider, model: name ?? model, ...keyFor(provider, settings, baseUrl), baseUrl };
  if (provider !== 'openai') return { ...connection, api };
  const chosen = settings.openaiApi ?? (baseUrl === address ? 'responses' : 'chat');
  return { ...connection, api: `openai-${chosen}`, model: name ?? settings.openaiModel ?? model };
}

const STORED_KEY = 'the API key in the model settings';

/** The only place that takes a key: without it, a stored key cannot reach an address it was not entered for. */
function keyFor(
  provider: Vendor,
  settings: ModelSettings,
  baseUrl: string,
): Pick<Connection, 'key' | 'keyName' | 'otherKeyAddress'> {
  const key = settings[keySetting(provider)];
  if (key === undefined) return { key, keyName: undefined };
  const givenName = settings.keyNames?.[provider];
  if (givenName !== undefined) return { key, keyName: givenName };
  const keyAddress = settings.keyAddresses?.[provider] ?? baseUrl;
  if (isSameAddress(keyAddress, baseUrl)) return { key, keyName: STORED_KEY };
  return { key: undefined, keyName: undefined, otherKeyAddress: keyAddress };
}

/**
 * Why the stored key is not sent, and what to do; null if it is sent, or if there is none. For admins. `setting`
 * is the one that prevents the start.
 */
export function keyProblem(choice: ModelChoice, setting?: string): string | null {
  if (choice.provider === 'offline' || choice.otherKeyAddress === undefined) return null;
  const { provider, baseUrl, otherKeyAddress } = choice;
  const [variable] = VENDORS[provider].variables;
  const again = setting === undefined ? 'enter it again' : `start without ${setting} and enter it again`;
  return `the stored API key of ${provider} was entered for ${otherKeyAddress} and is not sent to ${baseUrl}: ${again} in the model settings of the console, or set ${variable} beside the address`;
}

/** Without a prefix that decides, the first configured vendor whose models have none. */
function byName(model: string, settings: ModelSettings): Vendor | 'offline' {
  if (model === 'offline') return model;
  return (
    VENDOR_NAMES.find((vendor) => VENDORS[vendor].prefix && model.startsWith(VENDORS[vendor].prefix)) ??
    VENDOR_NAMES.find((vendor) => !VENDORS[vendor].prefix && isConfigured(vendor, settings)) ??
    'openai'
  );
}

/** Uses the first vendor with a key or an address; without any, the offline model. */
const byKey = (settings: ModelSettings): Vendor | 'offline' =>
  VENDOR_NAMES.find((vendor) => isConfigured(vendor, settings)) ?? 'offline';

/** A self-hosted server may need no key, or credentials are in the environment; any other vendor does. */
export const lacksKey = (choice: ModelChoice): boolean =>
  choice.provider !== 'offline' &&
  choice.key === undefined &&
  !VENDORS[choice.provider].findsCredentials &&
  !isElsewhere(choice);

/**
 * Throws `ConfigError` if the vendor's own address is used without a key. At the start, `setting` is the one that
 * names the model: the console is reached only without it.
 */
export function requireKey(choice: ModelChoice, setting?: string): ModelChoice {
  if (choice.provider === 'offline' || !lacksKey(choice)) return choice;
  const problem = keyProblem(choice, setting);
  if (problem !== null) throw new ConfigError(problem);
  const [variable] = VENDORS[choice.provider].variables;
  const otherwise =
    setting === undefined
      ? 'or enter it in the model settings of the console'
      : `or start without ${setting} and connect the model in the console`;
  throw new ConfigError(
    `${choice.provider} needs an API key for ${choice.model}: set ${variable}, ${otherwise}`,
  );
}

/** The context size of a model; undefined if it is not known. */
export const knownContextLimit = (choice: ModelChoice): number | undefined =>
  choice.provider === 'offline'
    ? undefined
    : knownContextSize(choice.provider, choice.model, !isElsewhere(choice));
