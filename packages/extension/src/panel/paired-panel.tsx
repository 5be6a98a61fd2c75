/** The panel with its server: connects, and explains what to do if it cannot. */
import { useEffect } from 'react';
import { Button } from '../../../web/src/components/button.tsx';
import { Empty } from '../../../web/src/components/empty.tsx';
import { followActivity, useConnection } from '../../../web/src/state/activity.ts';
import { connectTo, loadServer, useAccess } from '../../../web/src/state/server.ts';
import { forgetSessions } from '../../../web/src/state/session.ts';
import { followServer } from '../../../web/src/state/settings-changes.ts';
import type { Paired } from '../shared/connection.ts';
import { ChatPage } from './chat/page.tsx';
import { Header } from './header.tsx';
import { endPairing } from './pair/pairing.ts';
import { SessionsPage } from './sessions-page.tsx';
import { SettingsPage } from './settings/page.tsx';
import { useView } from './view.ts';
import { sendToWorker } from './worker.ts';

const RETRY_MS = 2_000;

export function PairedPanel({ paired }: { paired: Paired }) {
  const access = useAccess();
  useEffect(() => {
    connectTo(paired.url, paired.token);
    void loadServer();
    return forgetSessions;
  }, [paired]);

  const isAway = access.status === 'unreachable' || access.status === 'out';
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => void loadServer(), RETRY_MS);
    return () => clearInterval(timer);
  }, [isAway]);
  const isRefused = useConnection().status === 'closed';
  useEffect(() => {
    if (isAway || isRefused) void sendToWorker({ kind: 'check' });
  }, [isAway, isRefused]);

  if (access.status === 'in') return <Pages paired={paired} />;
  if (access.status === 'asking') return <p className="starting">Parlance</p>;
  return (
    <main className="alone">
      <Empty
        title="Cannot reach the server"
        action={
          <div className="pair-buttons">
            <Button variant="primary" onClick={() => void loadServer()}>
              Try again
            </Button>
            <Button onClick={() => void endPairing(paired)}>Use another server</Button>
          </div>
        }
      >
        Nothing answers at {paired.url}. Start it with <code>parlance serve</code>: the panel connects by
        itself.
      </Empty>
    </main>
  );
}

function Pages({ paired }: { paired: Paired }) {
  const view = useView();
  useEffect(() => {
    const unfollow = followServer();
    const stop = followActivity();
    return () => {
      stop();
      unfollow();
    };
  }, []);
  return (
    <div className="panel">
      <Header />
      {view.page === 'chat' && <ChatPage key={view.session} session={view.session} />}
      {view.page === 'sessions' && <SessionsPage />}
      {view.page === 'settings' && <SettingsPage paired={paired} />}
    </div>
  );
}
