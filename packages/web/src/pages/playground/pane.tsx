/** A client of one dialect: connection, composer and frames. */

import {
  connect,
  type Dialect,
  type DialectExample,
  type DialectList,
  type Parlance,
  ParlanceError,
} from '@parlance/sdk';
import {
  attempt,
  Button,
  Chip,
  Choice,
  Field,
  Notice,
  useAttempt,
} from '@parlance/ui/components/controls.tsx';
import { ownToken, parlance, useServer } from '@parlance/ui/state/server.ts';
import { type FormEvent, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { EntryList } from '../../entries/list.tsx';
import type { NumberedFrame } from '../../entries/rows.ts';
import { shellCommand } from '../timeline/shell-commands.ts';
import {
  Composer,
  inSession,
  readDraft,
  type Side,
  type StoredFrame,
  useStoredFrames,
  writeDraft,
  written,
} from './composer.tsx';
import {
  type Call,
  type ConnectionSnapshot,
  type ConnectionStatus,
  closedText,
  nativeTransport,
  PlaygroundConnection,
  requestTransport,
  shownAddress,
  socketTransport,
  socketUrl,
  type Transport,
  type TransportEvents,
} from './connection.ts';
import { type Example, examplesOf, type Filling, filled, firstFrame, frameOf } from './examples.ts';

type PaneProps = {
  readonly side: Side;
  readonly list: DialectList;
  readonly dialect: Dialect;
  readonly session: string;
  readonly identities: Identities;
  readonly onDialect: (dialect: string) => void;
  /** the principal it is connected as; null if it is not */
  readonly onConnectedAs: (name: string | null) => void;
};

export function Pane({ side, list, dialect, session, identities, onDialect, onConnectedAs }: PaneProps) {
  const { identity, logIn } = identities;
  const { name, transport } = dialect;
  const { auth, principal } = useServer();
  const storedFrames = useStoredFrames(principal.id, name);
  const [snapshot, connection] = useConnection(dialect);
  const [params, setParams] = useState(dialect.socket?.params ?? {});
  const filling = (): Filling => ({
    ids: list.ids,
    known: { owner: identity.name, ...snapshot.learned, ...(session === '' ? {} : { session }) },
    fresh: newName(),
  });
  const [draft, setDraft] = useState(
    () => readDraft(side, name, session) ?? written(firstFrame(dialect, filling())),
  );
  const { state } = snapshot;
  const connected = state.status === 'open' || state.status === 'connecting';
  const needsLogin = dialect.needsToken && identity.token === null;

  // The draft follows into another session.
  const [writtenIn, setWrittenIn] = useState(session);
  if (writtenIn !== session) {
    setWrittenIn(session);
    setDraft(inSession(draft, writtenIn, session));
  }

  const as = connected ? snapshot.as : null;
  useEffect(() => onConnectedAs(as), [as, onConnectedAs]);

  const write = (text: string) => {
    setDraft(text);
    writeDraft(side, { dialect: name, text, session });
  };

  async function use({ frame, before }: Example): Promise<void> {
    const made = frameOf(dialect, frame, filling());
    write(written(before && state.status === 'open' ? await prepared(made, before) : made));
  }

  async function prepared(frame: object, before: NonNullable<Example['before']>): Promise<object> {
    const made = await completed(frame, before, { filling: filling(), token: identity.token });
    if (typeof made !== 'string') return made;
    connection.note(`${before.path} refused: ${made}`);
    return frame;
  }

  async function connect(): Promise<void> {
    const call: Call = { dialect, session, token: identity.token, params };
    if (session !== '') await begin();
    const openTransport = (events: TransportEvents): Transport => {
      if (transport === 'commands') return nativeTransport(identity.client, session, events);
      if (transport === 'requests') return requestTransport(location.origin, identity.token, events);
      return socketTransport(socketUrl(location.origin, call), events);
    };
    connection.connect(openTransport, shownAddress(call), identity.name);
  }

  /** Not every dialect creates the session that it joins. */
  async function begin(): Promise<void> {
    try {
      const { facts: events } = await identity.client.session(session).create();
      if (events.length > 0) connection.note('Session created, so that both panes can join it');
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      connection.note(`Session could not be created: ${thrown.message}`);
    }
  }

  const commandFor = useCallback(
    (text: string | null) =>
      shellCommand({
        origin: location.origin,
        dialect,
        session,
        text,
        tokenRequired: auth === 'required',
      }),
    [dialect, session, auth],
  );
  const command = useCallback(
    ({ text, direction }: NumberedFrame) => commandFor(direction === 'in' ? text : null),
    [commandFor],
  );

  function send(): void {
    if (connection.send(draft)) storedFrames.sentNow({ text: draft, session });
  }

  return (
    <section className="pane" aria-label={`${side === 'left' ? 'First' : 'Second'} pane: ${name}`}>
      <div className="pane-head">
        <Choice label="Dialect">
          {(id) => (
            <select
              id={id}
              value={name}
              disabled={connected}
              onChange={(event) => onDialect(event.currentTarget.value)}
            >
              {list.dialects.map((one) => (
                <option key={one.name} title={one.title}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
        </Choice>
        {Object.entries(params).map(([param, value]) => (
          <Choice label={param.replace(/^./, (letter) => letter.toUpperCase())} key={param}>
            {(id) => (
              <input
                id={id}
                value={value}
                disabled={connected}
                onChange={({ currentTarget }) => setParams({ ...params, [param]: currentTarget.value })}
              />
            )}
          </Choice>
        ))}
        {connected ? (
          <Button onClick={() => connection.disconnect()}>Disconnect</Button>
        ) : (
          <Button
            variant="primary"
            disabled={needsLogin || (transport === 'commands' && session === '')}
            onClick={() => void connect()}
          >
            {state.status === 'closed' ? 'Reconnect' : 'Connect'}
          </Button>
        )}
        <StateChip state={state} as={snapshot.as} />
      </div>
      {needsLogin && !connected ? (
        <LoginForm logIn={logIn} />
      ) : (
        <Composer
          examples={examplesOf(dialect)}
          needsJson={transport !== 'socket'}
          kept={storedFrames}
          draft={{ text: draft, session }}
          command={commandFor(draft)}
          canSend={state.status === 'open'}
          onDraft={write}
          onExample={(example) => void use(example)}
          onKept={(frame: StoredFrame) => write(inSession(frame.text, frame.session, session))}
          onSend={send}
        />
      )}
      <div className="pane-log-head">
        <h2>Frames</h2>
        {snapshot.dropped > 0 && (
          <span className="hint">{snapshot.dropped.toLocaleString('en')} older frames dropped</span>
        )}
        <Button variant="quiet" disabled={snapshot.rows.length === 0} onClick={() => connection.clear()}>
          Clear
        </Button>
      </div>
      <div className="pane-log">
        {snapshot.rows.length === 0 ? (
          <p className="hint timeline-none">Connect, choose a frame and send it. Frames appear here.</p>
        ) : (
          <EntryList
            rows={snapshot.rows}
            label={`Frames of the ${side === 'left' ? 'first' : 'second'} pane`}
            columns={1}
            indented
            command={command}
            ours
          />
        )}
      </div>
    </section>
  );
}

function StateChip({ state, as }: { state: ConnectionStatus; as: string | null }) {
  return (
    <span role="status" aria-label="Connection">
      {state.status === 'idle' && <Chip>not connected</Chip>}
      {state.status === 'connecting' && <Chip variant="busy">connecting</Chip>}
      {state.status === 'open' && <Chip variant="good">connected as {as}</Chip>}
      {state.status === 'closed' && (
        <Chip variant={state.code === null || state.code === 1000 ? 'plain' : 'bad'}>
          {closedText(state.code, state.reason)}
        </Chip>
      )}
    </span>
  );
}

// Asks the server for what an example needs before it can be sent, such as a signature.

/** The frame with the fields of the answer, or the reason of a refusal. */
async function completed(
  frame: object,
  before: NonNullable<DialectExample['before']>,
  { filling, token }: { readonly filling: Filling; readonly token: string | null },
): Promise<object | string> {
  try {
    const response = await fetch(before.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(filled(before.body, filling)),
    });
    if (!response.ok) return `${response.status} ${await response.text()}`;
    const answer = (await response.json()) as object;
    const field = (frame as Readonly<Record<string, unknown>>)[before.into];
    return { ...frame, [before.into]: { ...(typeof field === 'object' ? field : {}), ...answer } };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** One connection for the lifetime of the component. Give it a `key` that changes with the dialect. */
function useConnection(dialect: Dialect): [ConnectionSnapshot, PlaygroundConnection] {
  const [connection] = useState(() => new PlaygroundConnection(dialect));
  useEffect(() => () => connection.close(), [connection]);
  return [useSyncExternalStore(connection.subscribe, connection.get), connection];
}

/** For dialects that need a token even in open mode. */
function LoginForm({ logIn }: { logIn: (name: string, password: string) => Promise<void> }) {
  const { busy, problem, run } = useAttempt();

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void run(() => logIn(String(fields.get('name')), String(fields.get('password'))));
  }

  return (
    <form className="playground-login" onSubmit={submit} aria-label="Sign in for the playground">
      <p className="hint">
        This dialect needs a token, even in open mode. After login, both panes connect as that user; the token
        is not stored. The server’s first start printed the password of <code>admin</code>.
      </p>
      {problem !== null && <Notice variant="danger">{problem}</Notice>}
      <div className="playground-login-fields">
        <Field label="Name" name="name" autoComplete="username" required />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" variant="primary" disabled={busy}>
          Sign in
        </Button>
      </div>
    </form>
  );
}

// The principal of the playground: the console's, or in open mode a user who logged in for the playground only. The
// token is kept in memory; that of the console ends with its sign-in.

type Identity = {
  readonly name: string;
  readonly token: string | null;
  readonly client: Parlance;
};

export type Identities = {
  readonly identity: Identity;
  /** logged in for the playground only */
  readonly borrowed: boolean;
  /** Throws a `ParlanceError` if name or password is wrong. */
  logIn(name: string, password: string): Promise<void>;
  forget(): void;
};

/** Null until the token is there. */
export function useIdentity(): Identities | null {
  const { principal } = useServer();
  const [own, setOwn] = useState<{ readonly token: string | null } | null>(null);
  useEffect(() => {
    void attempt(async () => setOwn({ token: await ownToken() }));
  }, []);
  const [borrowed, setBorrowed] = useState<Identity | null>(null);
  if (own === null) return null;
  return {
    identity: borrowed ?? { name: principal.id, token: own.token, client: parlance },
    borrowed: borrowed !== null,
    async logIn(name, password) {
      const client = connect();
      const { token } = await client.auth.login(name, password);
      setBorrowed({ name, token, client });
    },
    forget: () => setBorrowed(null),
  };
}

/** A UUID, because some dialects require one. `crypto.randomUUID` is missing on pages served over plain HTTP. */
export const newName = (): string =>
  parlance.session().id.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
