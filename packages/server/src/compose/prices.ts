/** Model prices: of the catalogue, and those that admins set at run time. */
import { Fault } from '@parlance/protocol';
import { type Price, SetPrice } from '@parlance/protocol/api';
import { z } from 'zod';
import { type Changeable, isConnected, isElsewhere, VENDOR_NAMES } from '../config/config.ts';
import type { Log, ModelPrice } from '../core/index.ts';
import type { PriceTable } from '../dialects/kit/administration.ts';
import { CATALOGUE_DATE, knownModel, knownModels } from '../providers/catalogue.ts';
import { isVendor } from '../providers/vendors.ts';
import type { Store } from '../stores/shared/store.ts';
import type { LiveConfig } from './setup/live-config.ts';
import { idOf, priceOf } from './setup/model-lists.ts';

const DOCUMENT = 'prices';
const MAX_MODELS = 1_000;
const ATTEMPTS = 5;

const Stored = z.object({ models: z.record(z.string(), SetPrice) });

/** Prices of the catalogue, of vendors with a key, at their own address: what others charge is not known. */
function cataloguePrices(config: Changeable): Record<string, Price> {
  return Object.fromEntries(
    VENDOR_NAMES.flatMap((vendor) => {
      const choice = config.vendor(vendor);
      if (!isConnected(choice) || isElsewhere(choice)) return [];
      return knownModels(vendor).flatMap(({ id, cost }): [string, Price][] => {
        const price = priceOf(cost);
        if (price === null) return [];
        return [...new Set([idOf(id, vendor, config), `${vendor}:${id}`])].map((name) => [
          name,
          { ...price, catalogue: CATALOGUE_DATE },
        ]);
      });
    }),
  );
}

export type Prices = PriceTable & {
  /** The price at this moment, without reading the store: as an admin has set it, else of the catalogue. */
  of(vendor: string, model: string): ModelPrice | undefined;
};

type PriceParts = {
  readonly store: Pick<Store, 'settings' | 'revocations'>;
  readonly live: LiveConfig;
  readonly log: Log;
};

export async function openPrices(
  { store: { settings, revocations }, live, log }: PriceParts,
  resources: AsyncDisposableStack,
): Promise<Prices> {
  let known: Readonly<Record<string, ModelPrice>> = {};
  const load = async (): Promise<void> => {
    known = (await stored()).models;
  };
  await load();
  resources.defer(
    revocations.follow(() => void load().catch((err) => log.warn({ err }, 'failed to read prices'))),
  );

  function catalogued(vendor: string, model: string): ModelPrice | undefined {
    if (!isVendor(vendor) || isElsewhere(live.current.vendor(vendor))) return undefined;
    return priceOf(knownModel(vendor, model)?.cost) ?? undefined;
  }

  async function stored() {
    const found = await settings.read(DOCUMENT);
    return { models: found ? Stored.parse(found.value).models : {}, version: found?.version ?? 0 };
  }
  return {
    of: (vendor, model) =>
      [`${vendor}:${model}`, model].flatMap((name) => (Object.hasOwn(known, name) ? [known[name]] : []))[0] ??
      catalogued(vendor, model),
    list: async () => ({ ...cataloguePrices(live.current), ...(await stored()).models }),
    /** Retries if another admin writes at the same time, applying the change to the new version. */
    async set(model, price) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { models, version } = await stored();
        const { [model]: _, ...others } = models;
        const next = price === null ? others : { ...others, [model]: price };
        if (Object.keys(next).length > MAX_MODELS)
          throw new Fault('invalid', `At most ${MAX_MODELS} models can have a price.`);
        if (!(await settings.write(DOCUMENT, { models: next }, version))) continue;
        return load();
      }
      throw new Fault('busy', 'Another admin is changing the prices. Try again.');
    },
  };
}
