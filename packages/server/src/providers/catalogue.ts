/**
 * Sizes and prices of models, in the data shape of models.dev. `npm run catalogue` rebuilds the file; operators override
 * single values (`CONTEXT_LIMITS`, and prices in the console).
 */
import catalogue from './catalogue.json' with { type: 'json' };
import { VENDOR_NAMES, type Vendor } from './vendors.ts';

export type CatalogueModel = {
  readonly id: string;
  readonly name: string;
  /** tokens */
  readonly limit?: { readonly context?: number; readonly output?: number };
  /** US dollars per million tokens. If a vendor charges more for long prompts, the lower price. */
  readonly cost?: {
    readonly input: number;
    readonly output: number;
    readonly cache_read?: number;
    readonly cache_write?: number;
  };
  readonly modalities?: { readonly input: readonly string[]; readonly output: readonly string[] };
  readonly reasoning?: boolean;
  readonly tool_call?: boolean;
};

export type Catalogue = {
  /** when the values were read */
  readonly date: string;
  readonly source: string;
  readonly providers: Partial<
    Record<Vendor, { readonly id: string; readonly models: Readonly<Record<string, CatalogueModel>> }>
  >;
};

const { date, providers }: Catalogue = catalogue;

export const CATALOGUE_DATE = date;

export const knownModels = (vendor: Vendor): CatalogueModel[] =>
  Object.values(providers[vendor]?.models ?? {});

/** Also for a dated version of the model: `gpt-4o-2024-08-06`, `claude-haiku-4-5-20251001`. */
export function knownModel(vendor: Vendor, name: string): CatalogueModel | undefined {
  const models = providers[vendor]?.models ?? {};
  const plain = name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return [name, plain].flatMap((id) => (Object.hasOwn(models, id) ? [models[id]] : []))[0];
}

/**
 * The context size of a model; undefined if it is not known. Another model of the vendor has at least the smallest known
 * size. A server of one's own, such as a gateway, has models of any vendor.
 */
export function knownContextSize(vendor: Vendor, name: string, isVendorsOwn: boolean): number | undefined {
  const sizes = [vendor, ...VENDOR_NAMES].flatMap((one) => knownModel(one, name)?.limit?.context ?? []);
  if (sizes[0] !== undefined || !isVendorsOwn) return sizes[0];
  const known = knownModels(vendor).flatMap(({ limit }) => limit?.context ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}
