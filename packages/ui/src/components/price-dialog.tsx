/** The price of a model: for everyone if an admin sets it, otherwise for this browser. */

import { setOwnPrice, setSharedPrice, usePrices } from '../state/models.ts';
import { useServer } from '../state/server.ts';
import { Field } from './controls.tsx';
import { Dialog } from './dialog.tsx';

const numberIn = (fields: FormData, name: string): number | undefined => {
  const text = String(fields.get(name) ?? '').trim();
  return text === '' ? undefined : Number(text);
};

export type ContextSize = {
  /** tokens, as an admin has set them */
  readonly set: number | undefined;
  /** tokens, if none are set */
  readonly known: number | null;
  readonly save: (model: string, tokens: number | null) => Promise<void>;
};

type PriceDialogProps = {
  readonly model: string | null;
  /** only an admin sets it */
  readonly size?: ContextSize;
  readonly onClose: () => void;
};

/** Empty fields remove what was set. Without a model, its name is asked for. */
export function PriceDialog({ model, size, onClose }: PriceDialogProps) {
  const price = usePrices()[model ?? ''];
  const isAdmin = useServer().principal.role === 'admin';
  // A price of the catalogue is shown, but not stored.
  const isKnown = price?.catalogue !== undefined;
  const field = (name: string, label: string, value: number | undefined) => (
    <Field
      label={label}
      name={name}
      type="number"
      min="0"
      step="any"
      inputMode="decimal"
      defaultValue={isKnown ? undefined : value}
      placeholder={isKnown && value !== undefined ? String(value) : undefined}
    />
  );

  async function saveBoth(fields: FormData): Promise<void> {
    const tokens = numberIn(fields, 'context') ?? null;
    const named = model ?? String(fields.get('model')).trim();
    await save(fields);
    if (size && tokens !== (size.set ?? null)) await size.save(named, tokens);
  }

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
      onConfirm={saveBoth}
    >
      <p className="hint">
        US dollars per million tokens, from your provider’s price list.{' '}
        {isAdmin
          ? 'Everyone on this server sees the cost.'
          : 'Stored in this browser; an admin sets prices for everyone.'}
        {isKnown && ` Without a price of your own, that of the catalogue of ${price?.catalogue} applies.`}
      </p>
      {model === null && <Field label="Model" name="model" required maxLength={200} />}
      {field('input', 'Input', price?.input)}
      {field('output', 'Output', price?.output)}
      {field('cached', 'Cached input (optional)', price?.cached)}
      {size && (
        <Field
          label="Context in tokens (optional)"
          name="context"
          type="number"
          min="1000"
          step="1"
          inputMode="numeric"
          defaultValue={size.set}
          placeholder={size.known === null ? undefined : String(size.known)}
        />
      )}
    </Dialog>
  );
}
