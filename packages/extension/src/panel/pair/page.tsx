/** Connects the extension to a server: an address, a code, and somebody who allows it. */
import { connect, ParlanceError } from '@parlance/sdk';
import { Button, CopyButton, Field, Notice, useAttempt } from '@parlance/ui/components/controls.tsx';
import { type FormEvent, useEffect, useState } from 'react';
import { type Connection, type Paired, serverOrigin } from '../../shared/records.ts';
import { connection } from '../../shared/storage.ts';

const POLL_MS = 1_500;

type PairProps = { readonly connection: Exclude<Connection, { status: 'paired' }> };

export function PairPage({ connection: now }: PairProps) {
  return (
    <main className="pair">
      <h1>Parlance</h1>
      {now.status === 'waiting' ? <Code key={now.code} waiting={now} /> : <Server connection={now} />}
    </main>
  );
}

function Server({
  connection: now,
}: {
  connection: Exclude<PairProps['connection'], { status: 'waiting' }>;
}) {
  const [address, setAddress] = useState(now.url);
  const { busy, problem, setProblem, run } = useAttempt((thrown) =>
    problemOf(thrown, serverOrigin(address) ?? address),
  );

  const isNew = now.status === 'none' && now.isNew === true;
  useEffect(() => {
    // Whoever has the server elsewhere enters its address.
    if (isNew) void requestPairing(now.url).catch(() => undefined);
  }, [isNew, now.url]);

  async function pair(event: FormEvent): Promise<void> {
    event.preventDefault();
    const url = serverOrigin(address);
    if (url === null)
      return setProblem('Enter an address such as http://127.0.0.1:3000. Other machines need https.');
    await run(() => requestPairing(url));
  }

  return (
    <form onSubmit={(event) => void pair(event)}>
      {now.status === 'revoked' && (
        <Notice variant="warning">
          The server no longer accepts this extension: it was revoked, or the server has other data. Connect
          it again.
        </Notice>
      )}
      <p>Chat and run tasks on the current tab with your own server.</p>
      <Field
        label="Server"
        value={address}
        onChange={(event) => setAddress(event.target.value)}
        inputMode="url"
        autoComplete="url"
        spellCheck={false}
        required
      />
      {problem !== null && <Notice variant="danger">{problem}</Notice>}
      <Button type="submit" variant="primary" icon="link" disabled={busy}>
        Connect
      </Button>
    </form>
  );
}

function problemOf(thrown: ParlanceError, url: string): string {
  if (thrown.code === 'unreachable')
    return `Cannot reach a server at ${url}. Start it with “parlance serve”, or correct the address.`;
  if (thrown.status === 404) return 'This server cannot pair extensions. Update it to the current version.';
  return thrown.message;
}

function Code({ waiting }: { waiting: Extract<Connection, { status: 'waiting' }> }) {
  const { url, code } = waiting;
  const [away, setAway] = useState(false);

  useEffect(() => {
    const poll = () =>
      pollPairing(waiting).then(
        () => setAway(false),
        () => setAway(true),
      );
    const timer = setInterval(() => void poll(), POLL_MS);
    return () => clearInterval(timer);
  }, [waiting]);

  const allowAt = `${url}/#/pair?code=${encodeURIComponent(code)}`;
  return (
    <>
      <p id="pair-code">Allow this code on your server:</p>
      <output className="pair-code" aria-labelledby="pair-code">
        {code}
      </output>
      <Button variant="primary" icon="shield" onClick={() => void chrome.tabs.create({ url: allowAt })}>
        Allow in the console
      </Button>
      <p className="hint">Or run this in a terminal:</p>
      <div className="pair-command">
        <code>parlance pair {code}</code>
        <CopyButton text={`parlance pair ${code}`} label="Copy command" />
      </div>
      {away && (
        <Notice variant="warning">
          Cannot reach the server at {url}. Start it again; the code stays valid for ten minutes.
        </Notice>
      )}
      <p className="hint" role="status">
        Waiting for {url} …
      </p>
      <Button
        variant="quiet"
        onClick={() => void endPairing(waiting).then(() => connection.set({ status: 'none', url }))}
      >
        Cancel
      </Button>
    </>
  );
}

// Asks the server for a pairing, and waits until somebody has allowed it.

const NAME = 'Parlance extension';

/** Throws a `ParlanceError`. */
async function requestPairing(url: string): Promise<void> {
  const platform = await chrome.runtime.getPlatformInfo();
  const request = await connect({ url, attempts: 1, timeoutMs: 5_000 }).pairings.request(
    `${NAME} (${browserName()}, ${platform.os})`,
  );
  await connection.set({ status: 'waiting', url, ...request });
}

function browserName(): string {
  return /Edg\//.test(navigator.userAgent) ? 'Edge' : /OPR\//.test(navigator.userAgent) ? 'Opera' : 'Chrome';
}

/** Looks once. A code that was denied or has expired ends the request. Throws a `ParlanceError` if the server is away. */
async function pollPairing(now: Extract<Connection, { status: 'waiting' }>): Promise<void> {
  const { url, token } = now;
  try {
    const own = await connect({ url, token, attempts: 1, timeoutMs: 5_000 }).pairings.own();
    if (own.status === 'allowed') await connection.set({ status: 'paired', url, token, owner: own.owner });
  } catch (thrown) {
    if (thrown instanceof ParlanceError && thrown.code === 'not_found')
      await connection.set({ status: 'none', url });
    else throw thrown;
  }
}

/** The server forgets the token; the extension does so even if the server is away. */
export async function endPairing({ url, token }: Pick<Paired, 'url' | 'token'>): Promise<void> {
  await connection.set({ status: 'none', url });
  await connect({ url, token, attempts: 1, timeoutMs: 5_000 })
    .pairings.end()
    .catch((thrown) => {
      if (!(thrown instanceof ParlanceError)) throw thrown;
    });
}
