/** The price of a model: for everyone if an admin sets it, otherwise for this browser. */
import { setOwnPrice, setSharedPrice, usePrices } from '../state/prices.ts';
import { useServer } from '../state/server.ts';
import { Dialog } from './dialog.tsx';

const numberIn = (fields: FormData, name: string): number | undefined => {
  const text = String(fields.get(name) ?? '').trim();
  return text === '' ? undefined : Number(text);
};

/** Empty fields remove the price. Without a model, its name is asked for. */
export function PriceDialog({ model, onClose }: { model: string | null; onClose: () => void }) {
  const price = usePrices()[model ?? ''];
  const isAdmin = useServer().principal.role === 'admin';
  const field = (name: string, label: string, value: number | undefined) => (
    <label className="field">
      {label}
      <input name={name} type="number" min="0" step="any" inputMode="decimal" defaultValue={value} />
    </label>
  );

  function save(fields: FormData): Promise<unknown> | undefined {
    const named = model ?? String(fields.get('model')).trim();
    const [input, output, cached] = ['input', 'output', 'cached'].map((name) => numberIn(fields, name));
    const next = input === undefined || output === undefined ? null : { input, output, cached };
    if (isAdmin) return setSharedPrice(named, next);
    setOwnPrice(named, next);
  }

  return (
    <Dialog
      title={model === null ? 'Price of a model' : `Price of ${model}`}
      confirm="Save"
      onClose={onClose}
      onConfirm={save}
    >
      <p className="hint">
        US dollars per million tokens, from your provider’s price list.{' '}
        {isAdmin
          ? 'Everyone on this server sees the cost.'
          : 'Stored in this browser; an admin sets prices for everyone.'}
      </p>
      {model === null && (
        <label className="field">
          Model
          <input name="model" required maxLength={200} autoComplete="off" />
        </label>
      )}
      {field('input', 'Input', price?.input)}
      {field('output', 'Output', price?.output)}
      {field('cached', 'Cached input (optional)', price?.cached)}
    </Dialog>
  );
}
