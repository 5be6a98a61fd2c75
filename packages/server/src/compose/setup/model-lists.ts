/** The models of all configured vendors, for those who choose one. Lists are cached for a minute. */
import { Fault } from '@parlance/protocol';
import type { VendorState } from '@parlance/protocol/api';
import {
  addressParts,
  type Changeable,
  type Config,
  installCommand,
  isElsewhere,
  isSameAddress,
  isVendor,
  keyProblem,
  keySetting,
  packageFolders,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
} from '../../config/config.ts';
import type { ProviderModels, VendorQuestion } from '../../dialects/kit/administration.ts';
import { type CatalogueModel, knownModels } from '../../providers/catalogue.ts';
import { findPackage } from '../../providers/packages.ts';
import { type ModelListing, type VendorAccess, vendorModels } from '../../providers/vendor-models.ts';
import type { LiveConfig } from './live-config.ts';

const CACHED_MS = 60_000;

/** Models of vendors that do not chat. Their names are all that OpenAI lists. */
const OTHER_PURPOSE =
  /embedding|moderation|whisper|transcribe|tts|audio|realtime|dall-e|image|sora|babbage|davinci/;

/** For all users, so without addresses. */
const KEY_WITHHELD = 'The stored API key was entered for another address. An admin has to enter it again.';

type Cached = { readonly until: number; readonly models: Promise<readonly string[]> };

/** Concurrent calls share a request. Failures and lists of changed settings are not kept. */
export function modelLists(live: LiveConfig, now: () => number = Date.now) {
  const cache = new Map<Vendor, Cached>();
  live.onChange(() => cache.clear());

  function modelsOf(vendor: Vendor, access: VendorAccess): Cached['models'] {
    const cached = cache.get(vendor);
    if (cached && now() < cached.until) return cached.models;
    const models = vendorModels(vendor, access).then((listing) => listing.models);
    const entry = { until: now() + CACHED_MS, models };
    cache.set(vendor, entry);
    models.catch(() => cache.get(vendor) === entry && cache.delete(vendor));
    return models;
  }

  async function listOf(vendor: Vendor, config: Changeable): Promise<ProviderModels[]> {
    const choice = config.vendor(vendor);
    if (choice.provider === 'offline') return [];
    const { baseUrl, key, otherKeyAddress } = choice;
    const isVendorsOwn = baseUrl === VENDORS[vendor].address;
    const label = isVendorsOwn ? VENDORS[vendor].label : new URL(baseUrl).host;
    const provider = { provider: vendor, label };
    if (isVendorsOwn && key === undefined)
      return otherKeyAddress === undefined ? [] : [{ ...provider, models: [], problem: KEY_WITHHELD }];
    try {
      const keyProblem =
        otherKeyAddress === undefined ? null : 'the stored one was entered for another address';
      const names = await modelsOf(vendor, { address: baseUrl, key, keyProblem });
      const usable = isVendorsOwn ? names.filter((name) => !OTHER_PURPOSE.test(name)) : names;
      const models = usable.map((name) => ({ id: idOf(name, vendor, config), name }));
      return [{ ...provider, models, problem: null }];
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      return [{ ...provider, models: [], problem: thrown.message }];
    }
  }

  return async (): Promise<readonly ProviderModels[]> => {
    const { current } = live;
    const inUse = current.model.provider;
    const ordered = [...VENDOR_NAMES].sort((one, other) => Number(other === inUse) - Number(one === inUse));
    return (await Promise.all(ordered.map((vendor) => listOf(vendor, current)))).flat();
  };
}

/** The name, with the provider if another one would answer for the name alone. */
export function idOf(name: string, vendor: Vendor, config: Changeable): string {
  return config.providerNamed(name) === vendor ? name : `${vendor}:${name}`;
}

export const priceOf = (cost: CatalogueModel['cost']): VendorState['models'][number]['price'] =>
  cost
    ? {
        input: cost.input,
        output: cost.output,
        ...(cost.cache_read !== undefined && { cached: cost.cache_read }),
      }
    : null;

/** All vendors: whether they have a key and their package, and what the catalogue knows. Asks and loads nothing. */
export function vendorStates(
  config: Changeable,
  { data, given }: Pick<Config, 'data' | 'given'>,
): VendorState[] {
  return VENDOR_NAMES.map((name): VendorState => {
    const { label, package: needed } = VENDORS[name];
    const choice = config.vendor(name);
    const { baseUrl: address, key } =
      choice.provider === 'offline' ? { baseUrl: '', key: undefined } : choice;
    const isVendorsOwn = !isElsewhere(choice);
    const found = needed === undefined ? null : findPackage(needed, packageFolders(data));
    return {
      name,
      label,
      address,
      key: key === undefined ? null : (given.get(keySetting(name)) ?? 'the console'),
      missing: isVendorsOwn ? addressParts(name).filter((part) => !process.env[part]) : [],
      package:
        needed === undefined
          ? null
          : {
              name: needed,
              version: found?.version ?? null,
              problem: found?.problem ?? null,
              install: installCommand(needed, data),
            },
      models: knownModels(name).map(({ id, name: title, limit, cost }) => ({
        id: idOf(id, name, config),
        name: title,
        context: config.contextLimits[`${name}:${id}`] ?? config.contextLimits[id] ?? limit?.context ?? null,
        price: isVendorsOwn ? priceOf(cost) : null,
      })),
    };
  });
}

/** Lists a vendor's models, with the key that belongs to the requested address. */
export function modelsOf(
  { provider, ...question }: VendorQuestion,
  config: Changeable,
): Promise<ModelListing> {
  if (!isVendor(provider)) throw new Fault('invalid', 'The provider is not a known model API.');
  return vendorModels(provider, accessFor(question, inUse(provider, config)));
}

/** A stored or configured key is sent only to its own address: testing another address requires a key. */
function accessFor({ address, key }: Omit<VendorQuestion, 'provider'>, current: VendorAccess): VendorAccess {
  const requested = address?.replace(/\/+$/, '') ?? current.address;
  if (key !== undefined) return { address: requested, key };
  return isSameAddress(requested, current.address)
    ? { ...current, address: requested }
    : { address: requested, key: undefined };
}

function inUse(provider: Vendor, config: Changeable): VendorAccess {
  const choice = config.vendor(provider);
  return choice.provider === 'offline'
    ? { address: VENDORS[provider].address, key: undefined }
    : { address: choice.baseUrl, key: choice.key, keyProblem: keyProblem(choice) };
}
