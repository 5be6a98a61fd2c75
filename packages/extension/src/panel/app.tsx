/** Root component: pairing, or the paired server. */

import { Button, Chip, Empty, IconButton, Notice, Toasts } from '@parlance/ui/components/controls.tsx';
import { followActivity, followServer, useConnection } from '@parlance/ui/state/activity.ts';
import { connectTo, loadServer, useAccess } from '@parlance/ui/state/server.ts';
import { forgetSessions } from '@parlance/ui/state/session.ts';
import { dayGroups, stateText } from '@parlance/ui/state/session-order.ts';
import { useSessions } from '@parlance/ui/state/sessions.ts';
import { useEffect, useState } from 'react';
import { isRunning, type Paired } from '../shared/records.ts';
import { connection, tasks, toolUses } from '../shared/storage.ts';
import { ChatPage } from './chat/page.tsx';
import { endPairing, PairPage } from './pair/page.tsx';
import { SettingsPage } from './settings/page.tsx';
import { sendToWorker, show, useStored, useView } from './state.ts';

export function App() {
  const now = useStored(connection);
  if (now === null) return <p className="starting">Parlance</p>;
  return (
    <>
      {now.status === 'paired' ? (
        <PairedPanel key={`${now.url} ${now.token}`} paired={now} />
      ) : (
        <PairPage connection={now} />
      )}
      <Toasts />
    </>
  );
}

// The panel with its server: connects, and explains what to do if it cannot.

const RETRY_MS = 2_000;

function PairedPanel({ paired }: { paired: Paired }) {
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

// The title bar: sessions, a new chat, settings, and the emergency stop while anything happens in the browser.

function Header() {
  const view = useView();
  const running = Object.values(useStored(tasks) ?? {}).some(isRunning);
  const used = (useStored(toolUses) ?? []).some(({ state }) => state === 'running' || state === 'asking');
  const toggled = (page: 'sessions' | 'settings') =>
    show(view.page === page ? { page: 'chat', session: null } : { page });
  return (
    <header className="panel-head">
      <IconButton
        icon="menu"
        label="Sessions"
        aria-pressed={view.page === 'sessions'}
        onClick={() => toggled('sessions')}
      />
      <h1>Parlance</h1>
      {(running || used) && (
        <Button variant="danger" icon="stop" onClick={() => void sendToWorker({ kind: 'stop' })}>
          Stop all
        </Button>
      )}
      <IconButton icon="plus" label="New session" onClick={() => show({ page: 'chat', session: null })} />
      <IconButton
        icon="settings"
        label="Settings"
        aria-pressed={view.page === 'settings'}
        onClick={() => toggled('settings')}
      />
    </header>
  );
}

// The sessions of every client, with a search.

function SessionsPage() {
  const [query, setQuery] = useState('');
  const { sessions, hasMore, loading, fault, more } = useSessions({ query, archived: false });
  return (
    <main className="panel-page">
      <h2>Sessions</h2>
      <input
        type="search"
        className="panel-search"
        aria-label="Search sessions"
        placeholder="Search"
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      {fault && <Notice variant="danger">{fault.message}</Notice>}
      {!loading && sessions.length === 0 && (
        <Empty title={query === '' ? 'No sessions yet' : 'No matches'}>
          {query === '' ? 'Tasks and chats of all your clients appear here.' : 'Try another word.'}
        </Empty>
      )}
      {dayGroups(sessions, new Date()).map(({ name, sessions: group }) => (
        <section key={name} aria-label={name}>
          <h3 className="panel-day">{name}</h3>
          <ul className="panel-list">
            {group.map((session) => (
              <li key={`${session.owner} ${session.id}`}>
                <button type="button" onClick={() => show({ page: 'chat', session: session.id })}>
                  <span className={`dot dot-${session.status}`} title={stateText(session)}>
                    <span className="unseen">{stateText(session)}: </span>
                  </span>
                  <span className="panel-session">{session.title || 'Untitled'}</span>
                  <Chip>{session.dialect}</Chip>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {hasMore && <Button onClick={more}>Show more</Button>}
    </main>
  );
}
