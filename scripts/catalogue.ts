/**
 * Rebuilds the catalogue of models from data in the shape of models.dev's `api.json`: a file, or an address that answers with
 * it. Keeps the vendors of `providers/vendors.ts` and the fields that are used; other vendors and models that do not answer
 * with text are left out.
 *
 *   npm run catalogue -- api.json
 *   npm run catalogue -- https://models.dev/api.json
 */
import { join } from 'node:path';
import { z } from 'zod';
import type { Catalogue, CatalogueModel } from '../packages/server/src/providers/catalogue.ts';
import { VENDOR_NAMES, VENDORS, type Vendor } from '../packages/server/src/providers/vendors.ts';

const FILE = join(import.meta.dir, '../packages/server/src/providers/catalogue.json');

const Amount = z.number().min(0);
const Tokens = z.number().int().min(0);

const Model = z.object({
  id: z.string().min(1).max(200),
  name: z.string().max(200),
  limit: z.object({ context: Tokens.optional(), output: Tokens.optional() }).optional(),
  cost: z
    .object({
      input: Amount,
      output: Amount,
      cache_read: Amount.optional(),
      cache_write: Amount.optional(),
    })
    .optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }).optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
});

const Source = z.record(
  z.string(),
  z.object({
    id: z.string(),
    env: z.array(z.string()).optional(),
    models: z.record(z.string(), z.unknown()),
  }),
);

type Provider = z.infer<typeof Source>[string];

/** By its name, the name of its package, or the variable of its key. */
function providerOf(vendor: Vendor, providers: readonly Provider[]): Provider | undefined {
  const { package: name, variables } = VENDORS[vendor];
  const ids = [vendor, name?.replace('@ai-sdk/', '')];
  return (
    providers.find(({ id }) => ids.includes(id)) ??
    providers.find(({ env = [] }) => env.some((one) => variables.includes(one)))
  );
}

/** Unknown sizes are 0 there. */
function modelOf(raw: unknown): CatalogueModel[] {
  const { data: model } = Model.safeParse(raw);
  if (!model || (model.modalities && !model.modalities.output.includes('text'))) return [];
  const { limit = {}, ...rest } = model;
  const known = Object.fromEntries(Object.entries(limit).filter(([, tokens]) => tokens));
  return [{ ...rest, ...(Object.keys(known).length > 0 && { limit: known }) }];
}

/** Throws if the data has another shape, or none of the vendors. */
export function catalogueFrom(data: unknown, date: string, source: string): Catalogue {
  const found = Object.values(Source.parse(data));
  const providers: Catalogue['providers'] = {};
  for (const vendor of VENDOR_NAMES) {
    const models = Object.values(providerOf(vendor, found)?.models ?? {})
      .flatMap(modelOf)
      .sort((one, other) => one.id.localeCompare(other.id, 'en'));
    if (models.length > 0)
      providers[vendor] = {
        id: vendor,
        models: Object.fromEntries(models.map((model) => [model.id, model])),
      };
  }
  if (Object.keys(providers).length === 0) throw new Error('the data has no model of a known vendor');
  return { date, source, providers };
}

if (import.meta.main) {
  const [source] = process.argv.slice(2);
  if (source === undefined) throw new Error('usage: npm run catalogue -- FILE|URL');
  const isUrl = /^https?:/.test(source);
  const data: unknown = isUrl ? await (await fetch(source)).json() : await Bun.file(source).json();
  const date = new Date().toISOString().slice(0, 10);
  const made = catalogueFrom(data, date, isUrl ? source : 'a file in the shape of models.dev');
  await Bun.write(FILE, `${JSON.stringify(made, null, 2)}\n`);
  const count = Object.values(made.providers).reduce(
    (sum, { models }) => sum + Object.keys(models).length,
    0,
  );
  console.log(`${FILE}: ${count} models of ${Object.keys(made.providers).length} vendors, ${date}`);
}
