import type { SessionView } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { saidIn } from './rows.ts';

/** So much of an answer is read aloud by itself. */
const MOST = 600;

/** Says to screen readers what the eye sees happen, once it has happened: not each word as it comes. */
export function Announcer({ view }: { view: SessionView }) {
  const [words, setWords] = useState('');
  const last = view.entries.at(-1);
  const status = last?.kind === 'turn' ? last.state.status : 'none';
  const pending = view.pending?.approval;
  // biome-ignore lint/correctness/useExhaustiveDependencies: said when the state changes, not with every word
  useEffect(() => {
    if (last?.kind !== 'turn') return;
    if (view.pending) setWords(`An approval is waiting: ${view.pending.ask.description}`);
    else if (last.state.status === 'running') setWords(`${last.agent.name} is at work.`);
    else if (last.state.status === 'failed') setWords(`It failed: ${last.state.fault.message}`);
    else if (last.state.status === 'ended') setWords(`${last.agent.name}: ${saidIn(last).slice(0, MOST)}`);
    else setWords('Stopped.');
  }, [status, pending, last?.kind === 'turn' ? last.turn : null]);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {words}
    </div>
  );
}
