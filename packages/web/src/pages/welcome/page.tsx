/** The guide: model, key, and how to connect each kind of client to this server. */
import type { About } from '@parlance/sdk';
import { Button, Chip, CopyButton, toast } from '@parlance/ui/components/controls.tsx';
import { CodeBlock } from '@parlance/ui/markdown/code-block.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { ownToken, useServer } from '@parlance/ui/state/server.ts';
import { useMemo, useState } from 'react';
import { Page } from '../../components/page.tsx';
import { useDialects } from '../../state/dialects.ts';
import { logIn } from '../timeline/shell-commands.ts';
import { type Client, clientsOf, DEMO, type ServerInfo, serverInfoOf } from './clients.ts';

export function WelcomePage() {
  const about = useServer();
  const server = useMemo(() => serverInfoOf(about, location.origin), [about]);
  return (
    <Page
      title="Guide"
      actions={
        <>
          <a className="button" href="/docs/">
            Documentation
          </a>
          <a className="button button-primary guide-start" href={hrefOf({ page: 'new' })}>
            Start a session
          </a>
        </>
      }
    >
      <div className="guide">
        <p className="guide-lead">
          This server speaks the protocol of every client below. A session started in one client can be
          watched, approved and continued in any other.
        </p>
        <Models about={about} />
        <Tokens server={server} />
        <Clients server={server} />
      </div>
    </Page>
  );
}

function Models({ about }: { about: About }) {
  const { provider, model } = about;
  return (
    <section aria-labelledby="guide-model">
      <h2 id="guide-model">1. Model</h2>
      {provider === 'offline' ? (
        <p>
          The built-in <Chip variant="waiting">offline model</Chip> is in use. It needs no key and no network.
          It is not a language model: it demonstrates the server, with the same output every time.
        </p>
      ) : (
        <p>
          <Chip variant="good">{model}</Chip> is in use. Each session can choose another model that the server
          has a key for.
        </p>
      )}
      {may(about, 'setup') && <Providers vendors={about.vendors} />}
    </section>
  );
}

/** For those who set up the server. */
function Providers({ vendors }: Pick<About, 'vendors'>) {
  const providers = [
    ...vendors.map(({ name, label, variables }) => ({
      id: name,
      name: label,
      variables,
      start: `${variables[0]}=YOUR-KEY npm start`,
    })),
    {
      id: 'own',
      name: 'Self-hosted model',
      variables: ['OPENAI_BASE_URL', 'MODEL'],
      start: 'OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=llama3.3 npm start',
    },
  ];
  return (
    <>
      <p>
        <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>Connect a model</a> here, without a restart,
        or set a key in the environment of the server, which takes precedence:
      </p>
      <ul className="guide-providers">
        {providers.map(({ id, name, variables, start }) => (
          <li className="card" key={id}>
            <h3>{name}</h3>
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
              <CopyButton text={start} label={`Copy the command for ${name}`} />
            </div>
          </li>
        ))}
      </ul>
      <p className="hint">
        <code>MODEL</code> sets the model, and <code>PROVIDER</code> the provider if the model name is
        ambiguous. <code>npm start -- --help</code> lists the most common settings.
      </p>
    </>
  );
}

function Tokens({ server }: { server: ServerInfo }) {
  const { auth, origin, name } = server;
  const needing = (useDialects()?.dialects ?? [])
    .filter(({ needsToken }) => needsToken)
    .map(({ title }) => title);
  const local = name === 'local';
  return (
    <section aria-labelledby="guide-token">
      <h2 id="guide-token">2. Token</h2>
      {auth === 'open' ? (
        <p>
          The server runs in <strong>open mode</strong>: clients on this machine need no token and share the
          sessions of <code>local</code>. Clients with user accounts{' '}
          {needing.length > 0 && ` (${needing.join(' and ')})`} always need one. Sessions belong to the
          token’s user: use the same token in all clients to share them.
        </p>
      ) : (
        <p>
          The server <strong>requires a token</strong> from every client. A token is valid for 24 hours, for
          every client and at every address of this server. Sessions belong to the token’s user.
        </p>
      )}
      <p>
        The commands below read it from <code>PARLANCE_TOKEN</code>.{' '}
        {local ? (
          <>
            The server printed the password of <code>admin</code> on its first start. Add other users with{' '}
            <code>parlance user add</code>, or as an admin under <em>Admin</em> → <em>Users</em>.
          </>
        ) : (
          'Use the token of this page, which is revoked when you sign out, or sign in from a terminal.'
        )}
      </p>
      {!local && <OwnToken />}
      <CodeBlock code={logIn(origin, local ? 'admin' : name).code} language="sh" />
    </section>
  );
}

/** Copied without being displayed: someone may be watching the screen. */
function OwnToken() {
  const [copied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(`export PARLANCE_TOKEN='${(await ownToken()) ?? ''}'`);
      setCopied(true);
    } catch {
      toast('Copying needs https or localhost in this browser.');
    }
  }
  return (
    <p>
      <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
        {copied ? 'Copied: paste it into a terminal' : 'Copy the command that sets PARLANCE_TOKEN'}
      </Button>{' '}
      <span className="hint">Keep it as secret as your password.</span>
    </p>
  );
}

function Clients({ server }: { server: ServerInfo }) {
  const mayPlay = may(useServer(), 'tool:approve');
  const list = useDialects();
  const clients = useMemo(() => (list === null ? [] : clientsOf(server, list)), [server, list]);
  return (
    <section aria-labelledby="guide-clients">
      <h2 id="guide-clients">3. Clients</h2>
      <p>
        Paste the commands into a terminal. <code>npx wscat</code> installs wscat on first use and stays
        connected until Ctrl-C. Most commands use the session <code>{DEMO}</code>: run two side by side and{' '}
        <a href={hrefOf({ page: 'session', id: DEMO })}>watch the session {DEMO}</a>.
        {mayPlay && (
          <>
            {' '}
            To write a client, try its messages in the <a href={hrefOf({ page: 'playground' })}>playground</a>
            .
          </>
        )}
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
        {snippets.some(({ needsToken }) => needsToken) && <Chip variant="waiting">needs a token</Chip>}
      </summary>
      <p>{about}</p>
      <ul className="guide-addresses" aria-label={`Addresses for ${name}`}>
        {addresses.map(({ address, condition }) => (
          <li className="guide-line" key={address}>
            <code>{address}</code>
            {condition !== null && <span className="hint">{condition}</span>}
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
