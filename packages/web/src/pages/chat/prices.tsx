/** Prices per million tokens, entered by the reader for each model and stored in the browser. */
import { Dialog } from '../../components/dialog.tsx';
import { readStorage, writeStorage } from '../../state/storage.ts';
import { store, useStore } from '../../state/store.ts';
import type { Price, Prices } from './cost.ts';

const KEPT = 'parlance.prices';

function read(): Prices {
  try {
    const kept: unknown = JSON.parse(readStorage('local', KEPT) ?? '{}');
    return typeof kept === 'object' && kept !== null ? (kept as Prices) : {};
  } catch {
    return {};
  }
}

const prices = store<Prices>(read());
export const usePrices = (): Prices => useStore(prices);

function setPrice(model: string, price: Price | null): void {
  const { [model]: _, ...rest } = prices.get();
  const next = price ? { ...rest, [model]: price } : rest;
  prices.set(next);
  writeStorage('local', KEPT, JSON.stringify(next));
}

const numberIn = (fields: FormData, name: string): number | undefined => {
  const text = String(fields.get(name) ?? '').trim();
  return text === '' ? undefined : Number(text);
};

/** Empty fields remove the price. */
export function PriceDialog({ model, onClose }: { model: string; onClose: () => void }) {
  const price = usePrices()[model];
  const field = (name: string, label: string, value: number | undefined) => (
    <label className="field">
      {label}
      <input name={name} type="number" min="0" step="any" inputMode="decimal" defaultValue={value} />
    </label>
  );
  return (
    <Dialog
      title={`Price of ${model}`}
      confirm="Save"
      onClose={onClose}
      onConfirm={(fields) => {
        const [input, output, cached] = ['input', 'output', 'cached'].map((name) => numberIn(fields, name));
        setPrice(model, input === undefined || output === undefined ? null : { input, output, cached });
      }}
    >
      <p className="hint">
        US dollars per million tokens, from your provider’s price list. Prices are stored in this browser;
        without them only tokens are shown.
      </p>
      {field('input', 'Input', price?.input)}
      {field('output', 'Output', price?.output)}
      {field('cached', 'Cached input (optional)', price?.cached)}
    </Dialog>
  );
}
