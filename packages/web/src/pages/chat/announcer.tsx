import type { SessionView } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { saidIn } from './rows.ts';

/** Maximum length of an answer that is announced. */
const MOST = 600;

/** Announces finished events to screen readers, not every token. */
export function Announcer({ view }: { view: SessionView }) {
  const [message, setMessage] = useState('');
  const last = view.entries.at(-1);
  const status = last?.kind === 'turn' ? last.state.status : 'none';
  const pending = view.pending?.approval;
  // biome-ignore lint/correctness/useExhaustiveDependencies: announce state changes, not every token
  useEffect(() => {
    if (last?.kind !== 'turn') return;
    if (view.pending) setMessage(`Approval needed: ${view.pending.ask.description}`);
    else if (last.state.status === 'running') setMessage(`${last.agent.name} is working.`);
    else if (last.state.status === 'failed') setMessage(`Turn failed: ${last.state.fault.message}`);
    else if (last.state.status === 'ended') setMessage(`${last.agent.name}: ${saidIn(last).slice(0, MOST)}`);
    else setMessage('Stopped.');
  }, [status, pending, last?.kind === 'turn' ? last.turn : null]);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {message}
    </div>
  );
}
