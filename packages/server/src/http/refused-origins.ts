/** Recently refused browser origins, so that an admin can allow one with a click. */
import { LruMap } from '../lib/lru-map.ts';

export type RefusedOrigin = { readonly origin: string; readonly count: number; readonly at: number };

/** More than these are most likely forged. */
const MAX_ORIGINS = 20;
/** Operators paste an origin into a shell or allow it with a click, so it must be a plain name. */
const PLAIN = /^(?:https?|chrome-extension|moz-extension):\/\/[a-z0-9.-]{1,253}(?::\d{1,5})?$/;

export const isPlainOrigin = (origin: string): boolean => PLAIN.test(origin);

export class RefusedOrigins {
  readonly #origins = new LruMap<RefusedOrigin>(MAX_ORIGINS);

  record(origin: string, at = Date.now()): void {
    if (!isPlainOrigin(origin)) return;
    this.#origins.set(origin, { origin, count: (this.#origins.get(origin)?.count ?? 0) + 1, at });
  }

  /** Latest first. */
  list(): RefusedOrigin[] {
    return [...this.#origins.values()].sort((one, other) => other.at - one.at);
  }
}
