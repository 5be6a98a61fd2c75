/** The line of a run of tool calls. Its calls are rows of their own, so that a long run is virtualised like the rest. */
import { memo } from 'react';
import { Chip, Icon } from '../components/controls.tsx';
import { type RunRow, runCounts, runText } from './runs.ts';

type RunProps = { readonly run: RunRow; readonly onToggle: (key: string, open: boolean) => void };

export const RunLine = memo(function RunLine({ run, onToggle }: RunProps) {
  const { key, calls, isOpen, isLive } = run;
  const { failed, waiting, running } = runCounts(calls);
  return (
    <div className="folded run-line" data-live={isLive || undefined}>
      <button
        type="button"
        className="folded-head"
        aria-expanded={isOpen}
        onClick={() => onToggle(key, !isOpen)}
      >
        <Icon name="tool" />
        <span className="folded-summary">
          <span className="run-text">{runText(calls)}</span>
          {failed > 0 && <Chip variant="bad">{failed} failed</Chip>}
          {waiting > 0 && <Chip variant="waiting">{waiting} waiting</Chip>}
          {running > 0 && <Chip variant="busy">{running} running</Chip>}
        </span>
        <span className="fold-mark" data-open={isOpen || undefined}>
          <Icon name="chevron" />
        </span>
      </button>
    </div>
  );
});
