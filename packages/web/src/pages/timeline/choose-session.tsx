import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { hrefOf } from '../../router.ts';
import { useSessions } from '../../state/sessions.ts';

/** A timeline is of a session: which one? */
export function ChooseSession() {
  const [words, setWords] = useState('');
  const { sessions, hasMore, loading, fault, more } = useSessions({ words, archived: false });
  return (
    <Page title="Timeline">
      <p className="hint">
        What really happened in a session: every event, and beside it the exact frames that clients were sent
        and sent. Choose a session.
      </p>
      <label className="field timeline-search">
        <span className="unseen">Search sessions</span>
        <input
          type="search"
          placeholder="Search sessions"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
      </label>
      {fault && <Empty title="The sessions cannot be read">{fault.message}</Empty>}
      {!fault && !loading && sessions.length === 0 && (
        <Empty
          title={words === '' ? 'There are no sessions yet' : 'No session is called that'}
          action={<a href={hrefOf({ page: 'playground' })}>Begin one in the playground</a>}
        />
      )}
      <ul className="timeline-sessions" aria-label="Sessions">
        {sessions.map(({ id, title, dialect, head, attached }) => (
          <li key={id}>
            <a href={hrefOf({ page: 'timeline', id })}>{title || id}</a>
            <span className="hint">
              {head.toLocaleString('en')} events, begun in {dialect}
            </span>
            {Object.keys(attached).map((name) => (
              <Chip key={name} look="good">
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
