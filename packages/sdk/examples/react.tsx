// A page with a list of sessions, a chat with approvals, and a question beside it.
import { connect } from '@parlance/sdk';
import { ParlanceProvider, useAsk, useSession, useSessions } from '@parlance/sdk/react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

const server = new URLSearchParams(location.search).get('server');
const parlance = connect({ url: server ?? 'http://127.0.0.1:3000' });

function Sessions({ onOpen }: { onOpen: (id: string) => void }) {
  const { sessions, error } = useSessions({ limit: 20 });
  if (error) return <p role="alert">{error.message}</p>;
  return (
    <ul aria-label="Sessions">
      {sessions.map(({ id, title, status }) => (
        <li key={id}>
          <button type="button" onClick={() => onOpen(id)}>
            {title || id}
          </button>{' '}
          {status}
        </li>
      ))}
    </ul>
  );
}

function Chat({ id }: { id: string }) {
  const { view, connection, submit, answer } = useSession(id);
  const { pending } = view;
  return (
    <section aria-label="Chat">
      <h2>
        {view.title || 'New session'} ({connection.status})
      </h2>
      {view.entries.map((entry) => {
        if (entry.kind !== 'turn') return null;
        const said = entry.input?.parts
          .map((part) => (part.type === 'text' ? part.text : part.type === 'page' ? part.title : part.mime))
          .join(' ');
        return (
          <article key={entry.turn}>
            <p>{said}</p>
            {entry.items.map((item) => item.kind === 'text' && <p key={item.block}>{item.text}</p>)}
          </article>
        );
      })}
      {pending && (
        <p>
          Allow <code>{pending.ask.command.join(' ')}</code>?{' '}
          <button type="button" onClick={() => answer(pending.approval, 'once', { hash: pending.hash })}>
            Allow
          </button>
          <button type="button" onClick={() => answer(pending.approval, 'deny', { hash: pending.hash })}>
            Deny
          </button>
        </p>
      )}
      <form action={async (data) => void (await submit(String(data.get('text'))))}>
        <input name="text" aria-label="Message" />
        <button type="submit">Send</button>
      </form>
    </section>
  );
}

function Question() {
  const { ask, text, status, approval, decide, error } = useAsk();
  return (
    <section aria-label="Question">
      <form action={async (data) => void (await ask(String(data.get('text'))))}>
        <input name="text" aria-label="Question" />
        <button type="submit">Ask</button>
      </form>
      <output>{error ? error.message : text}</output> ({status})
      {approval && (
        <button type="button" onClick={() => decide('once')}>
          Allow {approval.ask.command.join(' ')}
        </button>
      )}
    </section>
  );
}

function App() {
  const [id, setId] = useState('react');
  return (
    <>
      <Sessions onOpen={setId} />
      <Chat id={id} />
      <Question />
    </>
  );
}

const root = document.querySelector('#root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ParlanceProvider client={parlance}>
        <App />
      </ParlanceProvider>
    </StrictMode>,
  );
}
