/** Prices of models, in US dollars per million tokens. */
import type { Price } from '@parlance/protocol/api';

export interface PriceTable {
  /** By the name of the model: those that an admin has set, else those of the catalogue. */
  list(): Promise<Readonly<Record<string, Price>>>;
  /** Null removes the price. Durable when it resolves. */
  set(model: string, price: Price | null): Promise<void>;
}
