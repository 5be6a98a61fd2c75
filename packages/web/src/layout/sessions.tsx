/** The session list: pinned sessions, then by day; searched by title and by message. */
import { useState } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { useServer } from '../state/server.ts';
import { type SessionList, useSessions } from '../state/sessions.ts';
import { useTags } from '../state/tags.ts';
import { dayGroups } from './day-groups.ts';
import { FoundMessages } from './found-messages.tsx';
import { SessionRow } from './session-row.tsx';

const ALL_TAGS = '';

export function Sessions({ chosen }: { chosen: string | null }) {
  const [query, setQuery] = useState('');
  const [archived, setArchived] = useState(false);
  const [wanted, setTag] = useState(ALL_TAGS);
  const tags = useTags();
  // The tag may be gone since it was chosen.
  const tag = tags.some((one) => one.tag === wanted) ? wanted : ALL_TAGS;
  const searched = query.trim();
  const plain = searched === '' && !archived && tag === ALL_TAGS;
  const list = useSessions({ query, archived, tag });
  const pinned = useSessions({ query: '', archived: false, pinned: true }).sessions;
  const mine = useServer().principal.id;
  const rest = plain ? list.sessions.filter(({ pinned }) => !pinned) : list.sessions;
  const groups = dayGroups(rest, new Date());
  const shown = plain && pinned.length > 0 ? [{ name: 'Pinned', sessions: pinned }, ...groups] : groups;
  return (
    <section className="sessions" aria-label="Sessions">
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder={archived ? 'Search the archive' : 'Search sessions'}
          aria-label="Search titles and messages"
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
      {tags.length > 0 && (
        <select
          className="tag-filter"
          aria-label="Filter by tag"
          value={tag}
          onChange={(event) => setTag(event.target.value)}
        >
          <option value={ALL_TAGS}>All tags</option>
          {tags.map(({ tag, sessions }) => (
            <option key={tag} value={tag}>
              {tag} ({sessions})
            </option>
          ))}
        </select>
      )}
      <Hint list={list} searched={searched} archived={archived} />
      <div className="session-list">
        {shown.map(({ name, sessions }) => (
          <section key={name} aria-label={name}>
            <h2 className="session-day">{name}</h2>
            <ul>
              {sessions.map((session) => (
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
        {list.hasMore && (
          <Button look="quiet" onClick={list.more}>
            Show more
          </Button>
        )}
        {searched !== '' && <FoundMessages query={searched} />}
      </div>
    </section>
  );
}

type HintProps = { readonly list: SessionList; readonly searched: string; readonly archived: boolean };

function Hint({ list: { sessions, loading, fault }, searched, archived }: HintProps) {
  if (sessions.length > 0 || (loading && !fault)) return null;
  if (fault) return <p className="hint">{fault.message}</p>;
  if (searched !== '') return <p className="hint">No titles match “{searched}”.</p>;
  return (
    <p className="hint">
      {archived ? 'No archived sessions.' : 'No sessions yet. Sessions of all clients appear here.'}
    </p>
  );
}
