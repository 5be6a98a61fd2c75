/**
 * The models that providers list, and their prices. A list is loaded when a model is about to be chosen; a known one is shown
 * meanwhile.
 */
import { ParlanceError, type Price, type ProviderModels } from '@parlance/sdk';
import { useMemo } from 'react';
import type { Prices } from '../chat/cost.ts';
import { access, parlance } from './server.ts';
import { readStorage, writeStorage } from './storage.ts';
import { store, useStore } from './store.ts';

export type ListedModels = {
  /** null before the first response */
  readonly providers: readonly ProviderModels[] | null;
  readonly loading: boolean;
  /** why the last request failed */
  readonly problem: string | null;
};

const NONE: ListedModels = { providers: null, loading: false, problem: null };
const listed = store<ListedModels>(NONE);
access.subscribe(() => access.get().status === 'out' && listed.set(NONE));

export const useListedModels = (): ListedModels => useStore(listed);

export async function loadModels(): Promise<void> {
  const { providers, loading } = listed.get();
  if (loading) return;
  listed.set({ providers, loading: true, problem: null });
  try {
    listed.set({ providers: await parlance.models(), loading: false, problem: null });
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    listed.set({ providers, loading: false, problem: thrown.message });
  }
}

// Prices per million tokens. Admins set them on the server for everyone; others can set those that no admin has set for
// themselves, in this browser. The rest are of the server's catalogue.

const KEPT = 'parlance.prices';

function read(): Prices {
  try {
    const kept: unknown = JSON.parse(readStorage('local', KEPT) ?? '{}');
    return typeof kept === 'object' && kept !== null ? (kept as Prices) : {};
  } catch {
    return {};
  }
}

const own = store<Prices>(read());
const shared = store<Prices>({});

export const useSharedPrices = (): Prices => useStore(shared);

export function usePrices(): Prices {
  const [mine, theirs] = [useStore(own), useStore(shared)];
  return useMemo(() => {
    const set = Object.entries(theirs).filter(
      ([model, price]) => price.catalogue === undefined || !mine[model],
    );
    return { ...mine, ...Object.fromEntries(set) };
  }, [mine, theirs]);
}

/** Called after the login, and when the prices are shown. Without an answer, the known prices stay. */
export async function loadPrices(): Promise<void> {
  try {
    shared.set(await parlance.prices());
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
  }
}

const changed = (prices: Prices, model: string, price: Price | null): Prices => {
  const { [model]: _, ...rest } = prices;
  return price ? { ...rest, [model]: price } : rest;
};

/** Throws a `ParlanceError` if the server refuses. */
export async function setSharedPrice(model: string, price: Price | null): Promise<void> {
  await parlance.admin.setPrice(model, price);
  // Without it, the price of the catalogue may apply.
  await loadPrices();
}

export function setOwnPrice(model: string, price: Price | null): void {
  own.set(changed(own.get(), model, price));
  writeStorage('local', KEPT, JSON.stringify(own.get()));
}
