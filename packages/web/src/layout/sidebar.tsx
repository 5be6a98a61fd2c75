/** Navigation: the pages, and the searchable session list. */
import { useState } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { hrefOf, type Route } from '../router.ts';
import { useApprovals } from '../state/approvals.ts';
import { logOut, useServer } from '../state/server.ts';
import { useSessions } from '../state/sessions.ts';
import { dayGroups } from './day-groups.ts';
import { PAGES } from './pages.ts';
import { SessionRow } from './session-row.tsx';

export function Sidebar({ route }: { route: Route }) {
  const waiting = useApprovals().approvals.length;
  return (
    <aside className="sidebar" id="sidebar" aria-label="Navigation">
      <a className="brand" href={hrefOf({ page: 'new' })}>
        Parlance
      </a>
      <a className="button button-primary new-chat" href={hrefOf({ page: 'new' })}>
        <Icon name="plus" />
        New session
      </a>
      <nav aria-label="Pages">
        {PAGES.map(({ route: to, label, icon }) => (
          <a
            key={to.page}
            className="nav-link"
            href={hrefOf(to)}
            aria-current={to.page === route.page ? 'page' : undefined}
          >
            <Icon name={icon} />
            {label}
            {to.page === 'approvals' && waiting > 0 && (
              <span className="count" title={`${waiting} waiting`}>
                {waiting}
                <span className="unseen"> waiting</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <Sessions chosen={route.page === 'session' || route.page === 'timeline' ? route.id : null} />
      <Account />
    </aside>
  );
}

function Sessions({ chosen }: { chosen: string | null }) {
  const [query, setQuery] = useState('');
  const [archived, setArchived] = useState(false);
  const { sessions, hasMore, loading, fault, more } = useSessions({ query, archived });
  const mine = useServer().principal.id;
  return (
    <section className="sessions" aria-label="Sessions">
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder={archived ? 'Search the archive' : 'Search sessions'}
          aria-label="Search sessions by title"
          value={query}
          maxLength={200}
          onChange={(event) => setQuery(event.target.value)}
        />
        <IconButton
          icon="archive"
          label={archived ? 'Show current sessions' : 'Show archived sessions'}
          aria-pressed={archived}
          onClick={() => setArchived(!archived)}
        />
      </div>
      {fault && sessions.length === 0 && <p className="hint">{fault.message}</p>}
      {!fault && !loading && sessions.length === 0 && (
        <p className="hint">
          {query.trim() !== ''
            ? `No sessions match “${query.trim()}”.`
            : archived
              ? 'No archived sessions.'
              : 'No sessions yet. Sessions of all clients appear here.'}
        </p>
      )}
      <div className="session-list">
        {dayGroups(sessions, new Date()).map(({ name, sessions: group }) => (
          <section key={name} aria-label={name}>
            <h2 className="session-day">{name}</h2>
            <ul>
              {group.map((session) => (
                <SessionRow
                  key={`${session.owner} ${session.id}`}
                  session={session}
                  chosen={session.id === chosen}
                  foreign={session.owner !== mine}
                />
              ))}
            </ul>
          </section>
        ))}
        {hasMore && (
          <Button look="quiet" onClick={more}>
            Show more
          </Button>
        )}
      </div>
    </section>
  );
}

function Account() {
  const { auth, principal, version } = useServer();
  const local = auth === 'open' && principal.id === 'local';
  return (
    <footer className="account">
      <span className="account-name">
        {local ? 'Open mode' : principal.id}
        <small>
          {local ? 'no sign-in required' : principal.role} · {version}
        </small>
      </span>
      {local ? (
        <a className="button button-quiet" href={hrefOf({ page: 'login' })}>
          Sign in
        </a>
      ) : (
        <IconButton icon="leave" label="Sign out" onClick={() => void logOut()} />
      )}
    </footer>
  );
}
