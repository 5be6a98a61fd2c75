/** Context use and token usage of the session. */
import type { SessionView } from '@parlance/sdk';
import { useState } from 'react';
import { PriceDialog } from '../../components/price-dialog.tsx';
import { usePrices, useSharedPrices } from '../../state/prices.ts';
import { useServer } from '../../state/server.ts';
import { costOfSession, dollars } from './cost.ts';

import { shortUsage, usageText } from './turn-end.tsx';

export function ContextMeter({ context }: Pick<SessionView, 'context'>) {
  if (!context) return null;
  const percent = Math.min(100, Math.round((context.tokens / context.limit) * 100));
  const summary = `${context.tokens.toLocaleString()} of ${context.limit.toLocaleString()} tokens, ${context.items} items`;
  return (
    <span className="context" title={`Context: ${summary}`} data-full={percent >= 80 || undefined}>
      <meter min={0} max={context.limit} value={context.tokens} aria-label={`Context: ${summary}`} />
      {percent < 1 && context.tokens > 0 ? '<1' : percent}% context
    </span>
  );
}

export function Totals({ view, model }: { view: SessionView; model: string }) {
  const about = useServer();
  const [asking, setAsking] = useState(false);
  const cost = costOfSession(view, about, usePrices());
  const isShared = useSharedPrices()[model] !== undefined;
  const tokens = view.usage.inputTokens + view.usage.outputTokens;
  if (tokens === 0) return null;
  const text = `${shortUsage(view.usage)}${cost === null ? '' : ` · ${dollars(cost)}`}`;
  const usage = usageText(view.usage);
  // The price that an admin has set is for everyone.
  if (isShared && about.principal.role !== 'admin')
    return (
      <span className="totals" title={usage}>
        {text}
      </span>
    );
  return (
    <>
      <button
        type="button"
        className="totals"
        title={`${usage}. ${cost === null ? 'Set a price to see the cost.' : 'Change the price.'}`}
        onClick={() => setAsking(true)}
      >
        {text}
      </button>
      {asking && <PriceDialog model={model} onClose={() => setAsking(false)} />}
    </>
  );
}
