/** Messages that match the search, each a link to its place in the session. */
import type { FoundMessage } from '@parlance/sdk';
import { Button } from '../components/button.tsx';
import { hrefOf } from '../router.ts';
import { useShownFault } from '../state/activity.ts';
import { useMessageSearch } from '../state/message-search.ts';

const FROM = { user: 'You', agent: 'Answer', history: 'Imported' } as const;

export function FoundMessages({ query }: { query: string }) {
  const { messages, complete, hasMore, loading, fault: last, more } = useMessageSearch(query);
  const fault = useShownFault(last);
  return (
    <section aria-label="Messages" aria-busy={loading}>
      <h2 className="session-day">Messages</h2>
      {fault && <p className="hint">{fault.message}</p>}
      {!loading && !last && messages.length === 0 && <p className="hint">No messages match.</p>}
      <ul>
        {messages.map((message) => (
          <Found key={`${message.session} ${message.seq}`} message={message} />
        ))}
      </ul>
      {hasMore && (
        <Button look="quiet" onClick={more}>
          Show more messages
        </Button>
      )}
      {!complete && <p className="hint">Older messages are still being indexed.</p>}
    </section>
  );
}

function Found({ message: { session, title, archived, seq, at, from, excerpt } }: { message: FoundMessage }) {
  return (
    <li>
      <a className="found" href={hrefOf({ page: 'session', id: session }, { event: String(seq) })}>
        <span className="session-title">{title || 'Untitled'}</span>
        <span className="found-text">
          {excerpt.map(({ text, match }, index) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: an excerpt never changes
            match ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
          )}
        </span>
        <span className="session-more">
          {FROM[from]} · {new Date(at).toLocaleDateString()}
          {archived && ' · archived'}
        </span>
      </a>
    </li>
  );
}
