/** The models of all configured vendors, for those who choose one. Lists are cached for a minute. */
import { Fault } from '@parlance/protocol';
import { type Changeable, isVendor, VENDOR_ADDRESS, type Vendor } from '../../config/config.ts';
import type { ProviderModels } from '../../dialects/shared/setup.ts';
import { type VendorAccess, vendorModels } from '../../providers/vendor-models.ts';
import type { LiveConfig } from './live-config.ts';

const CACHED_MS = 60_000;

const NAMES: Readonly<Record<Vendor, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
};

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
    const isVendorsOwn = baseUrl === VENDOR_ADDRESS[vendor];
    const label = isVendorsOwn ? NAMES[vendor] : new URL(baseUrl).host;
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
    const vendors = Object.keys(VENDOR_ADDRESS).filter(isVendor);
    const ordered = vendors.sort((one, other) => Number(other === inUse) - Number(one === inUse));
    return (await Promise.all(ordered.map((vendor) => listOf(vendor, current)))).flat();
  };
}

/** The name, with the provider if another one would answer for the name alone. */
function idOf(name: string, vendor: Vendor, config: Changeable): string {
  return config.providerNamed(name) === vendor ? name : `${vendor}:${name}`;
}
