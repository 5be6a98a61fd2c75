/** Model prices, which admins set at run time. */
import { Fault } from '@parlance/protocol';
import { Price } from '@parlance/protocol/api';
import { z } from 'zod';
import type { SettingsStore } from '../accounts/store.ts';
import type { PriceTable } from '../dialects/kit/prices.ts';

const DOCUMENT = 'prices';
const MAX_MODELS = 1_000;
const ATTEMPTS = 5;

const Stored = z.object({ models: z.record(z.string(), Price) });

export function openPrices(settings: SettingsStore): PriceTable {
  async function stored() {
    const found = await settings.read(DOCUMENT);
    return { models: found ? Stored.parse(found.value).models : {}, version: found?.version ?? 0 };
  }
  return {
    list: async () => (await stored()).models,
    /** Retries if another admin writes at the same time, applying the change to the new version. */
    async set(model, price) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { models, version } = await stored();
        const { [model]: _, ...others } = models;
        const next = price === null ? others : { ...others, [model]: price };
        if (Object.keys(next).length > MAX_MODELS)
          throw new Fault('invalid', `At most ${MAX_MODELS} models can have a price.`);
        if (await settings.write(DOCUMENT, { models: next }, version)) return;
      }
      throw new Fault('busy', 'Another admin is changing the prices. Try again.');
    },
  };
}
