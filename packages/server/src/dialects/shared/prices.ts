/** Prices of models, in US dollars per million tokens. */
import { z } from 'zod';

const Dollars = z.number().min(0).max(1_000_000);

export const Price = z.object({ input: Dollars, output: Dollars, cached: Dollars.optional() });
export type Price = z.infer<typeof Price>;

export interface PriceTable {
  /** By the name of the model. Empty until an admin sets prices. */
  list(): Promise<Readonly<Record<string, Price>>>;
  /** Null removes the price. Durable when it resolves. */
  set(model: string, price: Price | null): Promise<void>;
}
