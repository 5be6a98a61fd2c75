/** The session list: pinned sessions, then by day; searched by title and by message. */
import { useEffect, useState } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { useShownFault } from '../state/activity.ts';
import { type SessionList as Listed, useSessions } from '../state/sessions.ts';
import { useTags } from '../state/tags.ts';
import { FoundMessages } from './found-messages.tsx';
import { SessionList } from './session-list.tsx';

const ALL_TAGS = '';
const NONE: Listed['sessions'] = [];

export function Sessions({ chosen }: { chosen: string | null }) {
  const [query, setQuery] = useState('');
  const [archived, setArchived] = useState(false);
  const [wanted, setTag] = useState(ALL_TAGS);
  const tags = useTags();
  // The tag may be gone since it was chosen.
  const tag = tags.some((one) => one.tag === wanted) ? wanted : ALL_TAGS;
  const searched = query.trim();
  const plain = searched === '' && !archived && tag === ALL_TAGS;
  const list = useSessions({ query, archived, tag, pinned: plain ? 'without' : undefined });
  const pinned = useAllPinned();
  const shownPinned = list.filter.pinned === 'without' ? pinned : NONE;
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
      {list.sessions.length + shownPinned.length === 0 && (
        <Hint list={list} searched={searched} archived={archived} />
      )}
      <SessionList
        sessions={list.sessions}
        pinned={shownPinned}
        chosen={chosen}
        more={list.hasMore && searched === '' ? list.more : null}
      >
        {searched !== '' && (
          <>
            {list.hasMore && (
              <Button variant="quiet" onClick={list.more}>
                Show more
              </Button>
            )}
            <FoundMessages query={searched} isAlone={list.sessions.length === 0 && !list.loading} />
          </>
        )}
      </SessionList>
    </section>
  );
}

function useAllPinned(): Listed['sessions'] {
  const { sessions, hasMore, more } = useSessions({ query: '', archived: false, pinned: 'only' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page may have a next one
  useEffect(() => {
    if (hasMore) more();
  }, [sessions, hasMore, more]);
  return sessions;
}

type HintProps = { readonly list: Listed; readonly searched: string; readonly archived: boolean };

/** Why the list is empty. */
function Hint({ list: { loading, fault: last }, searched, archived }: HintProps) {
  const fault = useShownFault(last);
  if (loading && !last) return null;
  if (last && !fault) return null;
  if (fault) return <p className="hint">{fault.message}</p>;
  // The search of messages says whether there are any results.
  if (searched !== '') return null;
  return (
    <p className="hint">
      {archived ? 'No archived sessions.' : 'No sessions yet. Sessions of all clients appear here.'}
    </p>
  );
}
