/** Lists a vendor's models, with the key that belongs to the requested address. */
import { Fault } from '@parlance/protocol';
import {
  type Changeable,
  isSameAddress,
  isVendor,
  keyProblem,
  VENDOR_ADDRESS,
  type Vendor,
} from '../../config/config.ts';
import type { VendorQuestion } from '../../dialects/shared/setup.ts';
import { type ModelListing, type VendorAccess, vendorModels } from '../../providers/vendor-models.ts';

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
    ? { address: VENDOR_ADDRESS[provider], key: undefined }
    : { address: choice.baseUrl, key: choice.key, keyProblem: keyProblem(choice) };
}
