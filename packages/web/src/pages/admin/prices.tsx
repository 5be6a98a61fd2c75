/** Sizes and prices of models: those of the catalogue, and those that an admin sets. */

import type { Json } from '@parlance/protocol';
import { Button, IconButton } from '@parlance/ui/components/controls.tsx';
import { PriceDialog } from '@parlance/ui/components/price-dialog.tsx';
import { loadPrices, useSharedPrices } from '@parlance/ui/state/models.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { useSettings } from './section.tsx';

const limitsIn = (stored: Json | undefined): Readonly<Record<string, number>> =>
  typeof stored === 'object' && stored !== null && !Array.isArray(stored)
    ? (stored as Record<string, number>)
    : {};

export const tokens = (count: number | null | undefined): string =>
  count === null || count === undefined ? '–' : count.toLocaleString('en');

export function PricesSection() {
  const { models } = useServer();
  const prices = useSharedPrices();
  const { polled: settings, change } = useSettings();
  const { value: known, again } = usePolled(parlance.admin.vendors);
  const [dialog, setDialog] = useState<{ readonly model: string | null } | null>(null);
  useEffect(() => void loadPrices(), []);
  const limits = limitsIn(settings.value?.stored.contextLimits);
  const connected = known?.vendors.filter(({ key }) => key !== null).flatMap((vendor) => vendor.models) ?? [];
  const sizes = new Map(connected.map(({ id, context }) => [id, context]));
  // A price of the catalogue is there by both names of the model.
  const set = Object.keys(prices).filter((name) => prices[name]?.catalogue === undefined);
  const names = [
    ...new Set([...models.map(({ id }) => id), ...sizes.keys(), ...set, ...Object.keys(limits)]),
  ].sort();
  const sizeOf = (model: string): number | null => limits[model] ?? sizes.get(model) ?? null;

  async function saveSize(model: string, size: number | null): Promise<void> {
    const { [model]: _, ...others } = limits;
    await change(
      { contextLimits: size === null ? others : { ...others, [model]: size } },
      'The size of the context was saved.',
    );
    again();
  }

  return (
    <section className="admin-section" aria-labelledby="admin-section-title">
      <div className="admin-head">
        <h2 id="admin-section-title">Prices</h2>
        <Button icon="plus" onClick={() => setDialog({ model: null })}>
          Add model
        </Button>
      </div>
      <p className="hint">
        Context in tokens, and US dollars per million tokens. With a price, chats show the cost of each turn
        and session. {known && `Values of the catalogue are of ${known.date}`} and count for vendors at their
        own address; check them against the vendor’s price list.
      </p>
      <section className="md-table prices" aria-label="Prices of models">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Context</th>
              <th scope="col">Input</th>
              <th scope="col">Output</th>
              <th scope="col" className="wide-only">
                Cached
              </th>
              <th scope="col" className="wide-only">
                From
              </th>
              <th scope="col">
                <span className="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {names.map((model) => {
              const price = prices[model];
              const isSet = (price && price.catalogue === undefined) || limits[model] !== undefined;
              return (
                <tr key={model}>
                  <th scope="row">{model}</th>
                  <td>{tokens(sizeOf(model))}</td>
                  <td>{price?.input ?? '–'}</td>
                  <td>{price?.output ?? '–'}</td>
                  <td className="wide-only">{price?.cached ?? '–'}</td>
                  <td className="wide-only">
                    {isSet ? 'an admin' : price || sizes.has(model) ? 'catalogue' : '–'}
                  </td>
                  <td>
                    <IconButton
                      icon="edit"
                      label={`Edit price of ${model}`}
                      onClick={() => setDialog({ model })}
                    />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {dialog && (
        <PriceDialog
          model={dialog.model}
          size={{
            set: dialog.model === null ? undefined : limits[dialog.model],
            known: dialog.model === null ? null : (sizes.get(dialog.model) ?? null),
            save: saveSize,
          }}
          onClose={() => setDialog(null)}
        />
      )}
    </section>
  );
}
