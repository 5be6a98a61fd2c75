import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { hrefOf } from '../../router.ts';
import { useShownFault } from '../../state/activity.ts';
import { useSessions } from '../../state/sessions.ts';

/** Choose the session of the timeline. */
export function ChooseSession() {
  const [query, setQuery] = useState('');
  const { sessions, hasMore, loading, more, ...list } = useSessions({ query, archived: false });
  const fault = useShownFault(list.fault);
  return (
    <Page title="Timeline">
      <p className="hint">
        Choose a session to see its events and, side by side, the exact frames on its sockets.
      </p>
      <label className="field timeline-search">
        <span className="unseen">Search sessions</span>
        <input
          type="search"
          placeholder="Search sessions"
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      </label>
      {fault && <Empty title="Cannot load sessions">{fault.message}</Empty>}
      {!list.fault && !loading && sessions.length === 0 && (
        <Empty
          title={query === '' ? 'No sessions yet' : 'No matching sessions'}
          action={<a href={hrefOf({ page: 'new' })}>Start a session</a>}
        />
      )}
      <ul className="timeline-sessions" aria-label="Sessions">
        {sessions.map(({ id, title, dialect, head, attached }) => (
          <li key={id}>
            <a href={hrefOf({ page: 'timeline', id })}>{title || id}</a>
            <span className="hint">
              {head.toLocaleString('en')} events, created by {dialect}
            </span>
            {Object.keys(attached).map((name) => (
              <Chip key={name} variant="good">
                {name}
              </Chip>
            ))}
          </li>
        ))}
      </ul>
      {hasMore && <Button onClick={more}>More</Button>}
    </Page>
  );
}
