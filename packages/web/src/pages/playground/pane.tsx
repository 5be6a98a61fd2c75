/** A client of one dialect: connection, composer and frames. */
import { ParlanceError } from '@parlance/sdk';
import { useCallback, useEffect, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Choice } from '../../components/choice.tsx';
import { EntryList } from '../../entries/list.tsx';
import type { NumberedFrame } from '../../entries/rows.ts';
import { useServer } from '../../state/server.ts';
import { wscatCommand } from '../timeline/wscat.ts';
import { type Call, shownAddress, socketUrl } from './address.ts';
import { Composer } from './composer.tsx';
import { firstDraft, inSession, readDraft, type Side, writeDraft, written } from './draft.ts';
import { type Example, type Known, SPOKEN, type Spoken } from './examples/index.ts';
import type { Identities } from './identity.ts';
import { LoginForm } from './login-form.tsx';
import { signatureFor } from './sign.ts';
import { type Listener, nativeSpeaker, requestSpeaker, type Speaker, socketSpeaker } from './speakers.ts';
import { closedText, type TalkState } from './talk.ts';
import { useTalk } from './use-talk.ts';

type PaneProps = {
  readonly side: Side;
  readonly dialect: Spoken;
  readonly session: string;
  readonly identities: Identities;
  readonly onDialect: (dialect: Spoken) => void;
  /** the principal it is connected as; null if it is not */
  readonly onConnectedAs: (name: string | null) => void;
};

/** Dialects that need a token even in open mode. */
const NEED_A_TOKEN: readonly Spoken[] = ['conversations', 'copilot'];

const fresh = (): string => Math.random().toString(36).slice(2, 11);

export function Pane({ side, dialect, session, identities, onDialect, onConnectedAs }: PaneProps) {
  const { identity, logIn } = identities;
  const { auth } = useServer();
  const [talked, talk] = useTalk(dialect);
  const [key, setKey] = useState('app-key');
  const known = (): Known => ({ session, now: Date.now(), fresh: fresh(), ...talked.learned });
  const [draft, setDraft] = useState(() => readDraft(side, dialect, session) ?? firstDraft(dialect, known()));
  const { state } = talked;
  const connected = state.status === 'open' || state.status === 'connecting';
  const needsLogin = NEED_A_TOKEN.includes(dialect) && identity.token === null;

  // The draft follows into another session.
  const [writtenIn, setWrittenIn] = useState(session);
  if (writtenIn !== session) {
    setWrittenIn(session);
    setDraft(inSession(draft, writtenIn, session));
  }

  const as = connected ? talked.as : null;
  useEffect(() => onConnectedAs(as), [as, onConnectedAs]);

  const write = (text: string) => {
    setDraft(text);
    writeDraft(side, { dialect, text, session });
  };

  async function use(example: Example): Promise<void> {
    write(written(example.frame(await signedFor(example))));
  }

  async function signedFor(example: Example): Promise<Known> {
    if (!example.signed || talked.learned.socket === undefined) return known();
    const signed = await signatureFor(example.signed, known(), identity.token);
    if (typeof signed !== 'string') return { ...known(), ...signed };
    talk.note(`Signature refused: ${signed}`);
    return known();
  }

  async function connect(): Promise<void> {
    const call: Call = { dialect, session, token: identity.token, key };
    if (session !== '') await begin();
    const speak = (listener: Listener): Speaker => {
      if (dialect === 'native') return nativeSpeaker(identity.client, session, listener);
      if (dialect === 'copilot') return requestSpeaker(location.origin, identity.token, listener);
      return socketSpeaker(socketUrl(location.origin, call), listener);
    };
    talk.connect(speak, shownAddress(call), identity.name);
  }

  /** Not every dialect creates the session that it joins. */
  async function begin(): Promise<void> {
    try {
      const { facts } = await identity.client.session(session).create();
      if (facts.length > 0) talk.note('Session created, so that both panes can join it');
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      talk.note(`Session could not be created: ${thrown.message}`);
    }
  }

  const wscat = useCallback(
    ({ text, direction }: NumberedFrame) =>
      wscatCommand({
        origin: location.origin,
        dialect,
        session,
        text: direction === 'in' ? text : null,
        tokenRequired: auth === 'required',
      }),
    [dialect, session, auth],
  );

  return (
    <section className="pane" aria-label={`${side === 'left' ? 'First' : 'Second'} pane: ${dialect}`}>
      <div className="pane-head">
        <Choice label="Dialect">
          {(id) => (
            <select
              id={id}
              value={dialect}
              disabled={connected}
              onChange={(event) => onDialect(event.currentTarget.value as Spoken)}
            >
              {SPOKEN.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Choice>
        {dialect === 'pusher' && (
          <Choice label="Application key">
            {(id) => (
              <input
                id={id}
                value={key}
                disabled={connected}
                onChange={(event) => setKey(event.currentTarget.value)}
              />
            )}
          </Choice>
        )}
        {connected ? (
          <Button onClick={() => talk.disconnect()}>Disconnect</Button>
        ) : (
          <Button
            look="primary"
            disabled={needsLogin || (dialect === 'native' && session === '')}
            onClick={() => void connect()}
          >
            {state.status === 'closed' ? 'Reconnect' : 'Connect'}
          </Button>
        )}
        <StateChip state={state} as={talked.as} />
      </div>
      {needsLogin && !connected ? (
        <LoginForm logIn={logIn} />
      ) : (
        <Composer
          dialect={dialect}
          draft={draft}
          canSend={state.status === 'open'}
          onDraft={write}
          onExample={(example) => void use(example)}
          onSend={() => talk.send(draft)}
        />
      )}
      <div className="pane-log-head">
        <h2>Frames</h2>
        {talked.dropped > 0 && (
          <span className="hint">{talked.dropped.toLocaleString('en')} older frames dropped</span>
        )}
        <Button look="quiet" disabled={talked.rows.length === 0} onClick={() => talk.clear()}>
          Clear
        </Button>
      </div>
      <div className="pane-log">
        {talked.rows.length === 0 ? (
          <p className="hint timeline-none">Connect, choose an example and send it. Frames appear here.</p>
        ) : (
          <EntryList
            rows={talked.rows}
            label={`Frames of the ${side === 'left' ? 'first' : 'second'} pane`}
            columns={1}
            indented
            wscat={wscat}
            ours
          />
        )}
      </div>
    </section>
  );
}

function StateChip({ state, as }: { state: TalkState; as: string | null }) {
  return (
    <span role="status" aria-label="Connection">
      {state.status === 'idle' && <Chip>not connected</Chip>}
      {state.status === 'connecting' && <Chip look="busy">connecting</Chip>}
      {state.status === 'open' && <Chip look="good">connected as {as}</Chip>}
      {state.status === 'closed' && (
        <Chip look={state.code === null || state.code === 1000 ? 'plain' : 'bad'}>
          {closedText(state.code, state.reason)}
        </Chip>
      )}
    </span>
  );
}
