/** Selects the model and its address. */
import { ConfigError } from './error.ts';
import { isSameAddress } from './key-address.ts';

export type Vendor = 'openai' | 'anthropic' | 'google';

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
  | ({ readonly provider: 'openai'; readonly api: 'responses' | 'chat' } & Connection)
  | ({ readonly provider: 'anthropic' | 'google' } & Connection);

export type ModelSettings = {
  readonly provider?: Vendor | 'offline';
  readonly model?: string;
  readonly openaiModel?: string;
  readonly openaiKey?: string;
  readonly openaiBaseUrl?: string;
  readonly openaiApi?: 'responses' | 'chat';
  readonly anthropicKey?: string;
  readonly anthropicBaseUrl?: string;
  readonly googleKey?: string;
  readonly googleBaseUrl?: string;
  /** the flag, variable or file entry that sets a key; the others are stored */
  readonly keyNames?: Readonly<Partial<Record<Vendor, string>>>;
  /** the address that each stored key was entered for; keys of older releases have none */
  readonly keyAddresses?: Readonly<Partial<Record<Vendor, string>>>;
};

export const MODEL_SETTINGS = [
  'provider',
  'model',
  'openaiModel',
  'openaiKey',
  'openaiBaseUrl',
  'openaiApi',
  'anthropicKey',
  'anthropicBaseUrl',
  'googleKey',
  'googleBaseUrl',
] as const satisfies (keyof ModelSettings)[];

type VendorDefaults = { readonly address: string; readonly model: string; readonly variable: string };

const VENDORS: Readonly<Record<Vendor, VendorDefaults>> = {
  openai: { address: 'https://api.openai.com/v1', model: 'gpt-4o-mini', variable: 'OPENAI_API_KEY' },
  anthropic: {
    address: 'https://api.anthropic.com',
    model: 'claude-opus-4-7',
    variable: 'ANTHROPIC_API_KEY',
  },
  google: {
    address: 'https://generativelanguage.googleapis.com',
    model: 'gemini-2.5-flash',
    variable: 'GOOGLE_API_KEY',
  },
};

export const VENDOR_ADDRESS: Readonly<Record<Vendor, string>> = {
  openai: VENDORS.openai.address,
  anthropic: VENDORS.anthropic.address,
  google: VENDORS.google.address,
};

/** The server's own model. Its key may be missing: see `requireKey`. */
export function chooseModel(settings: ModelSettings): ModelChoice {
  const { model } = settings;
  const provider = settings.provider ?? (model === undefined ? byKey(settings) : byName(model));
  return connectionTo(provider, settings, model);
}

/**
 * A model of an agent or a session. A server of one's own that was chosen as the provider has models with any
 * name; otherwise the name decides. `openai:NAME`, `anthropic:NAME` and `google:NAME` name the provider. The key
 * may be missing, as in `chooseModel`.
 */
export function modelNamed(settings: ModelSettings, name: string): ModelChoice {
  const { provider, model } = splitName(name);
  if (provider !== undefined) return connectionTo(provider, settings, model);
  const own = chooseModel(settings);
  if (own.provider !== 'offline' && own.model === name) return own;
  const chosen = hasOwnAddress(settings) ? settings.provider : undefined;
  return connectionTo(name === 'offline' ? name : (chosen ?? byName(name)), settings, name);
}

/** Splits a name such as `openai:gpt-5`. Other colons belong to the name: `llama3:8b`. */
function splitName(name: string): { readonly provider?: Vendor; readonly model: string } {
  const at = name.indexOf(':');
  const [provider, model] = [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
  return isVendor(provider) && model !== '' ? { provider, model } : { model: name };
}

export const isVendor = (name: string): name is Vendor => Object.hasOwn(VENDORS, name);

/** Whether the provider is chosen and is not at the vendor's address. */
export function hasOwnAddress({ provider, ...settings }: ModelSettings): boolean {
  if (provider === undefined || provider === 'offline') return false;
  const address = settings[`${provider}BaseUrl`];
  return address !== undefined && address !== VENDORS[provider].address;
}

function connectionTo(
  provider: Vendor | 'offline',
  settings: ModelSettings,
  name: string | undefined,
): ModelChoice {
  if (provider === 'offline') return { provider };
  const { address, model } = VENDORS[provider];
  const baseUrl = settings[`${provider}BaseUrl`] ?? address;
  const connection = { model: name ?? model, ...keyFor(provider, settings, baseUrl), baseUrl };
  if (provider !== 'openai') return { provider, ...connection };
  const api = settings.openaiApi ?? (baseUrl === address ? 'responses' : 'chat');
  return { provider, api, ...connection, model: name ?? settings.openaiModel ?? model };
}

const STORED_KEY = 'the API key in the model settings';

/** The only place that takes a key: without it, a stored key cannot reach an address it was not entered for. */
function keyFor(
  provider: Vendor,
  settings: ModelSettings,
  baseUrl: string,
): Pick<Connection, 'key' | 'keyName' | 'otherKeyAddress'> {
  const key = settings[`${provider}Key`];
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
  const { variable } = VENDORS[provider];
  const again = setting === undefined ? 'enter it again' : `start without ${setting} and enter it again`;
  return `the stored API key of ${provider} was entered for ${otherKeyAddress} and is not sent to ${baseUrl}: ${again} in the model settings of the console, or set ${variable} beside the address`;
}

function byName(model: string): Vendor | 'offline' {
  if (model === 'offline') return model;
  if (model.startsWith('claude-')) return 'anthropic';
  return model.startsWith('gemini-') ? 'google' : 'openai';
}

/** Uses the first vendor with a key or an address; without any, the offline model. */
function byKey(settings: ModelSettings): Vendor | 'offline' {
  if (settings.openaiKey ?? settings.openaiBaseUrl) return 'openai';
  if (settings.anthropicKey ?? settings.anthropicBaseUrl) return 'anthropic';
  return (settings.googleKey ?? settings.googleBaseUrl) ? 'google' : 'offline';
}

/** A self-hosted server may need no key; a vendor does. */
export const lacksKey = (choice: ModelChoice): boolean =>
  choice.provider !== 'offline' &&
  choice.key === undefined &&
  choice.baseUrl === VENDOR_ADDRESS[choice.provider];

/**
 * Throws `ConfigError` if the vendor's own address is used without a key. At the start, `setting` is the one that
 * names the model: the console is reached only without it.
 */
export function requireKey(choice: ModelChoice, setting?: string): ModelChoice {
  if (choice.provider === 'offline' || !lacksKey(choice)) return choice;
  const problem = keyProblem(choice, setting);
  if (problem !== null) throw new ConfigError(problem);
  const { variable } = VENDORS[choice.provider];
  const otherwise =
    setting === undefined
      ? 'or enter it in the model settings of the console'
      : `or start without ${setting} and connect the model in the console`;
  throw new ConfigError(
    `${choice.provider} needs an API key for ${choice.model}: set ${variable}, ${otherwise}`,
  );
}

/** Unknown models get a small limit; CONTEXT_LIMIT overrides it. */
const LIMITS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^(o1|o3|o4)/, 200_000],
  [/^claude-/, 200_000],
  [/^gemini-/, 1_048_576],
];

/** Undefined for a model that is not in the list. */
export const knownContextLimit = (model: string): number | undefined =>
  LIMITS.find(([name]) => name.test(model))?.[1];

export const contextLimitOf = (model: string): number => knownContextLimit(model) ?? 128_000;
