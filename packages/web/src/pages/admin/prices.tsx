/** The price table. */

import { Button, IconButton } from '@parlance/ui/components/button.tsx';
import { PriceDialog } from '@parlance/ui/components/price-dialog.tsx';
import { loadPrices, useSharedPrices } from '@parlance/ui/state/prices.ts';
import { useServer } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';

export function PricesSection() {
  const { models } = useServer();
  const prices = useSharedPrices();
  const [dialog, setDialog] = useState<{ readonly model: string | null } | null>(null);
  useEffect(() => void loadPrices(), []);
  const names = [...new Set([...models.map(({ id }) => id), ...Object.keys(prices)])].sort();
  return (
    <section className="admin-section" aria-labelledby="admin-section-title">
      <div className="admin-head">
        <h2 id="admin-section-title">Prices</h2>
        <Button icon="plus" onClick={() => setDialog({ model: null })}>
          Add model
        </Button>
      </div>
      <p className="hint">
        US dollars per million tokens. With a price, chats show the cost of each turn and session. There are
        no default prices.
      </p>
      <section className="md-table prices" aria-label="Prices of models">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Input</th>
              <th scope="col">Output</th>
              <th scope="col">Cached</th>
              <th scope="col">
                <span className="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {names.map((model) => (
              <tr key={model}>
                <th scope="row">{model}</th>
                <td>{prices[model]?.input ?? '–'}</td>
                <td>{prices[model]?.output ?? '–'}</td>
                <td>{prices[model]?.cached ?? '–'}</td>
                <td>
                  <IconButton
                    icon="edit"
                    label={`Edit price of ${model}`}
                    onClick={() => setDialog({ model })}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {dialog && <PriceDialog model={dialog.model} onClose={() => setDialog(null)} />}
    </section>
  );
}
