/** Messages that match the search, each a link to its place in the session. */
import type { FoundMessage } from '@parlance/sdk';
import { Button } from '../components/button.tsx';
import { hrefOf } from '../router.ts';
import { useShownFault } from '../state/activity.ts';
import { useMessageSearch } from '../state/message-search.ts';

const FROM = { user: 'You', agent: 'Answer', history: 'Imported' } as const;

type FoundMessagesProps = {
  readonly query: string;
  /** no titles match */
  readonly isAlone: boolean;
};

export function FoundMessages({ query, isAlone }: FoundMessagesProps) {
  const { messages, complete, hasMore, loading, fault: last, more } = useMessageSearch(query);
  const fault = useShownFault(last);
  return (
    <section aria-label="Messages" aria-busy={loading}>
      {messages.length > 0 && <h2 className="session-day">Messages</h2>}
      {fault && <p className="hint">{fault.message}</p>}
      {isAlone && !loading && !last && messages.length === 0 && (
        <p className="hint">No results for “{query}”.</p>
      )}
      <ul>
        {messages.map((message) => (
          <Found key={`${message.session} ${message.seq}`} message={message} />
        ))}
      </ul>
      {hasMore && (
        <Button variant="quiet" onClick={more}>
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
