/** Lists a vendor's models, with the key that belongs to the requested address. */
import { Fault } from '@parlance/protocol';
import { type Changeable, ConfigError, VENDOR_ADDRESS, type Vendor } from '../../config/config.ts';
import type { VendorQuestion } from '../../dialects/shared/setup.ts';
import { type ModelListing, type VendorAccess, vendorModels } from '../../providers/vendor-models.ts';

export function modelsOf(
  { provider, ...question }: VendorQuestion,
  config: Changeable,
): Promise<ModelListing> {
  if (!isVendor(provider)) throw new Fault('invalid', 'The provider is not a known model API.');
  return vendorModels(provider, accessFor(question, inUse(provider, config)));
}

const isVendor = (name: string): name is Vendor => Object.hasOwn(VENDOR_ADDRESS, name);

/** A stored or configured key is sent only to its own address: testing another address requires a key. */
function accessFor({ address, key }: Omit<VendorQuestion, 'provider'>, current: VendorAccess): VendorAccess {
  const wanted = address?.replace(/\/+$/, '') ?? current.address;
  if (key !== undefined) return { address: wanted, key };
  return { address: wanted, key: wanted === current.address ? current.key : undefined };
}

function inUse(provider: Vendor, config: Changeable): VendorAccess {
  try {
    const choice = config.vendor(provider);
    if (choice.provider !== 'offline') return { address: choice.baseUrl, key: choice.key };
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
  }
  return { address: VENDOR_ADDRESS[provider], key: undefined };
}
