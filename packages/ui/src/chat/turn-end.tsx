/** Outcome and usage of a turn, with "regenerate". */
import type { TurnView } from '@parlance/sdk';
import { memo, useContext } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Notice } from '../components/notice.tsx';
import { attempt } from '../components/toast.tsx';
import { may } from '../state/may.ts';
import { usePrices } from '../state/prices.ts';
import { hrefOf } from '../state/router.ts';
import { parlance, useServer } from '../state/server.ts';
import { IsLatest } from './branch-context.ts';
import { costOf, dollars, duration, priceOf, shortNumber } from './cost.ts';
import { Versions } from './input-row.tsx';
import { isPaused, saidIn } from './rows.ts';

export const TurnEnd = memo(function TurnEnd({ session, turn }: { session: string; turn: TurnView }) {
  const about = useServer();
  const price = priceOf(turn, about, usePrices());
  const isLatest = useContext(IsLatest);
  const { state, usage, input } = turn;
  const tokens = usage.inputTokens + usage.outputTokens;
  const said = saidIn(turn);
  const again = () =>
    attempt(async () => {
      if (input) await parlance.session(session).submit([...input.parts], { replaces: input.input });
    });

  return (
    <div className="turn-end">
      {state.status === 'failed' && (
        <Notice
          variant="danger"
          action={
            input &&
            isLatest && (
              <Button icon="retry" onClick={again}>
                Try again
              </Button>
            )
          }
        >
          {state.fault.message}
          {state.fault.code.startsWith('provider_') && may(about, 'setup') && (
            <>
              {' '}
              <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>Model settings</a>
            </>
          )}
        </Notice>
      )}
      <div className="turn-end-line">
        {said !== '' && <CopyButton text={said} label="Copy answer" />}
        {input && isLatest && !input.call && state.status !== 'failed' && !isPaused(turn) && (
          <IconButton icon="retry" label="Regenerate" onClick={again} />
        )}
        {input && <Versions of={input.input} at="answer" />}
        {state.status === 'cancelled' && <span>{CANCELLED[state.reason]}</span>}
        {'durationMs' in state && <span>{duration(state.durationMs)}</span>}
        {tokens > 0 && (
          <span title={usageText(usage)}>
            {shortUsage(usage)}
            {price && ` · ${dollars(costOf(usage, price))}`}
          </span>
        )}
      </div>
    </div>
  );
});

const CANCELLED: Readonly<Record<'cancelled' | 'superseded' | 'denied', string>> = {
  cancelled: 'Stopped',
  superseded: 'Interrupted by a new message',
  denied: 'Ended: a call was denied',
};

/** `1.2K in, 300 out` */
export const shortUsage = ({ inputTokens, outputTokens }: TurnView['usage']): string =>
  `${shortNumber(inputTokens)} in, ${shortNumber(outputTokens)} out`;

export const usageText = ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
}: TurnView['usage']): string =>
  [
    `${inputTokens.toLocaleString()} in`,
    cachedTokens ? `${cachedTokens.toLocaleString()} of them cached` : '',
    `${outputTokens.toLocaleString()} out`,
    reasoningTokens ? `${reasoningTokens.toLocaleString()} of them reasoning` : '',
  ]
    .filter(Boolean)
    .join(', ');
