/** The guide: what answers here, where a key goes, and how each kind of client is connected to this server. */
import type { About } from '@parlance/sdk';
import { useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Page } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { CodeBlock } from '../../markdown/code-block.tsx';
import { hrefOf } from '../../router.ts';
import { parlance, useServer } from '../../state/server.ts';
import { type Client, clientsOf } from './clients.ts';
import { PROVIDERS } from './providers.ts';
import { type ServerInfo, serverInfoOf } from './server-info.ts';
import { logIn } from './snippet.ts';

export function WelcomePage() {
  const about = useServer();
  const server = useMemo(() => serverInfoOf(about, location.origin), [about]);
  return (
    <Page
      title="Guide"
      actions={
        <a className="button button-primary" href={hrefOf({ page: 'new' })}>
          Begin a session
        </a>
      }
    >
      <div className="guide">
        <p className="guide-lead">
          This server speaks the wire of every client below. A session that one client begins can be watched,
          approved and continued in any other.
        </p>
        <Models about={about} />
        <Tokens server={server} />
        <Clients server={server} />
      </div>
    </Page>
  );
}

function Models({ about: { provider, model } }: { about: About }) {
  return (
    <section aria-labelledby="guide-model">
      <h2 id="guide-model">1. A model</h2>
      {provider === 'offline' ? (
        <p>
          The built-in <Chip look="waiting">offline model</Chip> answers now. It needs no key and no network,
          and it is not a language model: it shows everything that this server does, the same way every time.
        </p>
      ) : (
        <p>
          <Chip look="good">
            {model} by {provider}
          </Chip>{' '}
          answers now. Other models that the server has a key for can be chosen in each session.
        </p>
      )}
      <p>
        A key belongs into the environment of the server, never into this page. Stop the server, start it
        again with one of these lines, and load this page: sessions stay.
      </p>
      <ul className="guide-providers">
        {PROVIDERS.map(({ id, name, variables, start }) => (
          <li className="card" key={id}>
            <h3>
              {name} {id === provider && <Chip look="good">in use</Chip>}
            </h3>
            <p className="hint">
              {variables.map((variable, index) => (
                <span key={variable}>
                  {index > 0 && (id === 'own' ? ' and ' : ' or ')}
                  <code>{variable}</code>
                </span>
              ))}
            </p>
            <div className="guide-line">
              <code>{start}</code>
              <CopyButton text={start} label={`Copy how to start with ${name}`} />
            </div>
          </li>
        ))}
      </ul>
      <p className="hint">
        <code>MODEL</code> names a model, <code>PROVIDER</code> a provider where the name does not tell;{' '}
        <code>npm start -- --help</code> lists everything that can be set.
      </p>
    </section>
  );
}

function Tokens({ server }: { server: ServerInfo }) {
  const { auth, origin, name } = server;
  const local = name === 'local';
  return (
    <section aria-labelledby="guide-token">
      <h2 id="guide-token">2. A token</h2>
      {auth === 'open' ? (
        <p>
          The server is in <strong>open mode</strong>: clients on this machine need no token and share the
          sessions of <code>local</code>. Clients with logins, <em>Conversations</em> and{' '}
          <em>Browser copilot</em>, need one all the same. Its sessions are those of the user: use the token
          everywhere to share them.
        </p>
      ) : (
        <p>
          The server <strong>requires a token</strong> from every client. One token is good for 24 hours, in
          every dialect and on every door. Sessions belong to the user whose token it is.
        </p>
      )}
      <p>
        Commands below take it from <code>PARLANCE_TOKEN</code>.{' '}
        {local
          ? 'The first start of the server printed the password of admin, unless AUTH_USERS named users; parlance user add makes others.'
          : 'You can use the token of this page, which ends when you log out here, or log in anew.'}
      </p>
      {!local && <OwnToken />}
      <CodeBlock code={logIn(origin, local ? 'admin' : name).code} language="sh" />
    </section>
  );
}

/** Copied without being shown: somebody may look over the shoulder. */
function OwnToken() {
  const [copied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(`export PARLANCE_TOKEN='${parlance.token ?? ''}'`);
      setCopied(true);
    } catch {
      toast('The browser does not allow copying here: it needs https or localhost.');
    }
  }
  return (
    <p>
      <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
        {copied ? 'Copied: paste it into a terminal' : 'Copy a line that sets PARLANCE_TOKEN'}
      </Button>{' '}
      <span className="hint">It is as good as your password: do not share it.</span>
    </p>
  );
}

function Clients({ server }: { server: ServerInfo }) {
  const clients = useMemo(() => clientsOf(server), [server]);
  return (
    <section aria-labelledby="guide-clients">
      <h2 id="guide-clients">3. A client</h2>
      <p>
        Commands can be pasted into a terminal as they are; <code>npx wscat</code> fetches wscat the first
        time and stays connected until Ctrl-C. Most of them talk in the session <code>demo</code>: run two
        side by side and <a href={hrefOf({ page: 'session', id: 'demo' })}>watch the session demo</a>. To
        write a client of your own, try its frames in the{' '}
        <a href={hrefOf({ page: 'playground' })}>playground</a>.
      </p>
      <div className="guide-clients">
        {clients.map((client) => (
          <ClientCard client={client} key={client.dialect} />
        ))}
      </div>
    </section>
  );
}

function ClientCard({ client: { dialect, name, about, addresses, note, snippets } }: { client: Client }) {
  return (
    <details className="card">
      <summary>
        <span className="guide-client-name">{name}</span> <Chip>{dialect}</Chip>
        {snippets.some(({ needsToken }) => needsToken) && <Chip look="waiting">needs a token</Chip>}
      </summary>
      <p>{about}</p>
      <ul className="guide-addresses" aria-label={`Addresses for ${name}`}>
        {addresses.map((address) => (
          <li className="guide-line" key={address}>
            <code>{address}</code>
            <CopyButton text={address} label={`Copy ${address}`} />
          </li>
        ))}
      </ul>
      {note && <p className="hint">{note}</p>}
      {snippets.map(({ title, code, language }) => (
        <div key={title}>
          <h3 className="guide-snippet">{title}</h3>
          <CodeBlock code={code} language={language} />
        </div>
      ))}
    </details>
  );
}
