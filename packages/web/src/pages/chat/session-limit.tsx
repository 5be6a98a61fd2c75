/** The limit of a session: how much of it is used, and a dialog that sets it. */
import type { Amount } from '@parlance/protocol';
import { amountsText, amountText } from '@parlance/protocol/spending';
import type { SessionView } from '@parlance/sdk';
import { dollars } from '@parlance/ui/chat/cost.ts';
import { Field, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';

type SessionLimitProps = Pick<SessionView, 'limit' | 'spent'> & {
  readonly onSet: (limit: Amount | null) => Promise<unknown>;
};

export function SessionLimit({ limit, spent, onSet }: SessionLimitProps) {
  const [open, setOpen] = useState(false);
  if (!may(useServer(), 'chat:send')) return null;
  const used = usedText(limit, spent);
  return (
    <>
      <button
        type="button"
        className="totals"
        data-full={isNear(limit, spent) || undefined}
        title={limit ? `Limit of this session: ${amountsText(limit)}` : 'Limit what this session may use'}
        onClick={() => setOpen(true)}
      >
        {used ?? 'Set limit'}
      </button>
      {open && (
        <Dialog
          title="Limit of this session"
          confirm="Save"
          onClose={() => setOpen(false)}
          onConfirm={async (fields) => {
            const next = amountIn(fields);
            await onSet(next);
            toast(next ? `This session asks above ${amountsText(next)}.` : 'This session has no limit.');
          }}
        >
          <p className="hint">
            Above it, the agent asks before its next step whether it may continue. Used so far:{' '}
            {amountText('tokens', spent.tokens)}, {dollars(spent.cost / 1e6)}. Empty fields limit nothing.
          </p>
          <Field
            label="US dollars"
            name="dollars"
            type="number"
            min="0"
            max="1000000000"
            step="any"
            inputMode="decimal"
            defaultValue={limit?.dollars}
          />
          <Field
            label="Tokens, input and output"
            name="tokens"
            type="number"
            min="0"
            max="1000000000000000"
            step="1"
            inputMode="numeric"
            defaultValue={limit?.tokens}
          />
        </Dialog>
      )}
    </>
  );
}

function amountIn(fields: FormData): Amount | null {
  const [dollars, tokens] = ['dollars', 'tokens'].map((name) => String(fields.get(name) ?? '').trim());
  if (!dollars && !tokens) return null;
  return { ...(dollars && { dollars: Number(dollars) }), ...(tokens && { tokens: Number(tokens) }) };
}

/** `$0.20 of $1.00`: of the amount of which more is used. */
export function usedText(limit: Amount | null, spent: SessionView['spent']): string | null {
  const nearest = nearestOf(limit, spent);
  if (!nearest) return null;
  return `${amountText(nearest.unit, nearest.used)} of ${amountText(nearest.unit, nearest.max)}`;
}

const isNear = (limit: Amount | null, spent: SessionView['spent']): boolean => {
  const nearest = nearestOf(limit, spent);
  return nearest !== undefined && nearest.share >= 0.8;
};

function nearestOf(limit: Amount | null, { tokens, cost }: SessionView['spent']) {
  const uses = [
    { unit: 'dollars' as const, max: limit?.dollars, used: cost / 1e6 },
    { unit: 'tokens' as const, max: limit?.tokens, used: tokens },
  ];
  return uses
    .flatMap(({ unit, max, used }) =>
      max === undefined ? [] : [{ unit, max, used, share: max === 0 ? 1 : used / max }],
    )
    .toSorted((one, other) => other.share - one.share)[0];
}
