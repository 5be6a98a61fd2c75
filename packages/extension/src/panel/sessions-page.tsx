/** The sessions of every client, with a search. */
import type { Session } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { Empty } from '@parlance/ui/components/empty.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { dayGroups } from '@parlance/ui/state/day-groups.ts';
import { useSessions } from '@parlance/ui/state/sessions.ts';
import { useState } from 'react';
import { show } from './view.ts';

const STATES: Readonly<Record<Session['status'], string>> = {
  idle: 'Idle',
  running: 'Running',
  waiting: 'Waiting for input',
  failed: 'Failed',
};

export function SessionsPage() {
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
                  <span className={`dot dot-${session.status}`} title={STATES[session.status]}>
                    <span className="unseen">{STATES[session.status]}: </span>
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
