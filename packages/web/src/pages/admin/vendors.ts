/** What the form for the model offers, and the settings that a choice becomes. Pure. */
import type { Json } from '@parlance/protocol';
import type { About, ModelListing, ModelQuestion, Settings } from '@parlance/sdk';
import { type Entered, mergedEach } from './draft.ts';

/** `compatible`, `offline`, or the name of a vendor. */
export type Choice = string;
export type Vendors = About['vendors'];

/** In the order of the form. */
export const choicesOf = (
  vendors: Vendors,
): readonly { readonly name: Choice; readonly label: string; readonly hint: string }[] => [
  ...vendors,
  {
    name: 'compatible',
    label: 'Ollama, vLLM or OpenAI-compatible server',
    hint: 'Its address, and an API key if it needs one',
  },
  { name: 'offline', label: 'Offline demo model', hint: 'Built in, without a key; not a language model' },
];

export const vendorOf = (choice: Choice): string => (choice === 'compatible' ? 'openai' : choice);

/** The settings of the form. */
export const settingsOf = (vendors: Vendors): string[] => [
  'provider',
  'model',
  ...vendors.flatMap(({ name }) => [`${name}Key`, `${name}BaseUrl`]),
];

export type Fields = {
  /** null: not chosen yet */
  readonly choice: Choice | null;
  readonly address: string;
  /** empty: the stored one stays */
  readonly key: string;
  readonly model: string;
};
export type Chosen = Fields & { readonly choice: Choice };

type Given = Settings['given'];

/** The flag or variable that decides each field; undefined if it can be changed. */
export function decidedBy(
  given: Given,
  choice: Choice | null,
): Readonly<Partial<Record<keyof Fields, string>>> {
  if (choice === null || choice === 'offline') return { choice: given.provider };
  const vendor = vendorOf(choice);
  return {
    choice: given.provider,
    address: given[`${vendor}BaseUrl`],
    key: given[`${vendor}Key`],
    model: given.model,
  };
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/**
 * What is stored, or in use if nothing is. What is set at startup takes precedence. The offline model is shown as a choice
 * only if it is set there: otherwise no provider has been chosen yet.
 */
export function fieldsOf({ stored, model, given }: Settings, vendors: Vendors): Fields {
  const provider = (given.provider === undefined && text(stored.provider)) || model.provider;
  const isInUse = provider === model.provider;
  const isGiven = given[`${provider}BaseUrl`] !== undefined && isInUse;
  const address = isGiven ? (model.address ?? '') : text(stored[`${provider}BaseUrl`]);
  if (!vendors.some(({ name }) => name === provider)) {
    const isSet = given.provider !== undefined || given.model !== undefined;
    return { choice: isSet ? 'offline' : null, address: '', key: '', model: '' };
  }
  const choice = provider === 'openai' && address !== '' ? 'compatible' : provider;
  const storedModel = given.model === undefined ? text(stored.model) : '';
  const name = storedModel || (model.provider === 'offline' ? '' : model.model);
  return { choice, address, key: '', model: name };
}

/** The choice whose model answers now. */
export function choiceInUse({ model: { provider, address } }: Settings, vendors: Vendors): Choice {
  const vendor = vendors.find(({ name }) => name === provider);
  return provider === 'openai' && address !== vendor?.address ? 'compatible' : (vendor?.name ?? 'offline');
}

/**
 * Keeps the input when the stored settings have changed. A key belongs to a server and a model to its list, so that all
 * fields are kept unless both are about the same server.
 */
export function mergedFields(entered: Entered<Fields>, stored: Fields): Fields {
  const { base } = entered;
  const typed = { ...base, ...entered.changed };
  const isSameServer =
    typed.choice === base.choice && stored.choice === base.choice && stored.address === base.address;
  return isSameServer ? mergedEach(entered, stored) : typed;
}

/** An address or model that is left empty is removed, so that the vendor's own is used. */
export function valuesOf({ choice, address, key, model }: Chosen, given: Given): Record<string, Json> {
  const values: Record<string, Json> = { provider: 'offline', model: null };
  if (choice !== 'offline') {
    const vendor = vendorOf(choice);
    values.provider = vendor;
    values.model = model.trim() || null;
    values[`${vendor}BaseUrl`] = choice === 'compatible' ? withScheme(address) || null : null;
    if (key.trim() !== '') values[`${vendor}Key`] = key.trim();
  }
  return Object.fromEntries(Object.entries(values).filter(([name]) => given[name] === undefined));
}

/** The request that tests the fields. */
export function questionOf({ choice, address, key }: Chosen, given: Given, vendors: Vendors): ModelQuestion {
  const provider = vendorOf(choice);
  // A key is sent to the vendor's own address, unless the choice is another server.
  const own =
    choice === 'compatible' ? withScheme(address) : vendors.find(({ name }) => name === provider)?.address;
  return {
    provider,
    // A given address is the one in use.
    address: given[`${provider}BaseUrl`] === undefined ? own : undefined,
    key: key.trim() === '' ? undefined : key.trim(),
  };
}

/** People leave out the scheme. Servers of this machine and of local networks rarely have TLS. */
export function withScheme(address: string): string {
  const trimmed = address.trim();
  if (trimmed === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) return trimmed;
  const [host = ''] = trimmed.split(/[:/]/);
  const isLocal = /^(localhost|[\d.]+|[^.]+|.+\.local|\[.*)$/i.test(host);
  return `${isLocal ? 'http' : 'https'}://${trimmed}`;
}

/** What has to be changed before the fields can be tested; null if nothing. */
export function problemIn({ choice, address, key }: Fields): string | null {
  if (/\s/.test(key.trim())) return 'The API key contains spaces. Copy it again.';
  if (choice !== 'compatible') return null;
  const { protocol } = URL.parse(withScheme(address)) ?? { protocol: null };
  if (protocol === 'http:' || protocol === 'https:') return null;
  return 'Enter the address of the server, such as http://127.0.0.1:11434/v1.';
}

/** Ollama's default tag may be left out. */
const isListed = (model: string, models: readonly string[]): boolean =>
  models.includes(model) || models.includes(`${model}:latest`);

/** Why the model cannot be used; null if it can, or if the server lists none. */
export function modelProblem({ choice, model }: Fields, { models, address }: ModelListing): string | null {
  const name = model.trim();
  if (name === '') return choice === 'compatible' ? 'Choose a model.' : null;
  if (models.length === 0 || isListed(name, models)) return null;
  return `${new URL(address).host} does not list a model named ${name}. Choose one from the list.`;
}
