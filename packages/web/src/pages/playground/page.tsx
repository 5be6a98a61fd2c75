/**
 * Clients of any dialect in the page, over real connections; two of them on one session, side by side. Session and
 * dialects are in the address, so that a setup can be linked to.
 */
import { useCallback, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { go, hrefOf, usePlace } from '../../router.ts';
import { parlance } from '../../state/server.ts';
import { isSpoken, type Spoken } from './examples/index.ts';
import { useIdentity } from './identity.ts';
import { Pane } from './pane.tsx';

const dialectOf = (name: string | undefined, otherwise: Spoken): Spoken =>
  name !== undefined && isSpoken(name) ? name : otherwise;

/** A UUID, because copilot requires one. `crypto.randomUUID` is missing on pages served over plain HTTP. */
const newName = (): string =>
  parlance.session().id.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');

export function PlaygroundPage() {
  const { query } = usePlace();
  const identities = useIdentity();
  const [begun] = useState(newName);
  const [as, setAs] = useState<{ readonly left: string | null; readonly right: string | null }>({
    left: null,
    right: null,
  });
  const session = query.session ?? begun;
  const left = dialectOf(query.left, 'agentloop');
  const right = query.right === 'none' ? null : dialectOf(query.right, 'extension');
  const set = (part: Readonly<Record<string, string>>) =>
    go({ page: 'playground' }, { ...query, session, ...part }, 'replace');
  const leftAs = useCallback((name: string | null) => setAs((now) => ({ ...now, left: name })), []);
  const rightAs = useCallback((name: string | null) => setAs((now) => ({ ...now, right: name })), []);
  const apart = as.left !== null && as.right !== null && as.left !== as.right;
  const connected = as.left !== null || as.right !== null;
  const shared = { session, identities };

  return (
    <Page
      title="Playground"
      filled
      actions={
        <>
          {session !== '' && (
            <a
              className="button button-quiet playground-wide"
              href={hrefOf({ page: 'timeline', id: session })}
            >
              Timeline
            </a>
          )}
          <Button
            onClick={() => {
              set({ right: right === null ? 'extension' : 'none' });
              if (right !== null) rightAs(null);
            }}
          >
            {right === null ? 'Add second pane' : 'Close second pane'}
          </Button>
        </>
      }
    >
      <div className="playground-top">
        <Choice label="Session" className="playground-session">
          {(id) => (
            <input
              id={id}
              value={session}
              disabled={connected}
              title={connected ? 'Disconnect to change the session' : undefined}
              spellCheck={false}
              autoCapitalize="off"
              placeholder="none: each connection creates its own"
              onChange={(event) => set({ session: event.currentTarget.value.trim() })}
            />
          )}
        </Choice>
        <Button disabled={connected} onClick={() => set({ session: newName() })}>
          New name
        </Button>
        {identities.borrowed && (
          <p className="hint">
            New connections use the login <strong>{identities.identity.name}</strong>.{' '}
            <Button look="quiet" onClick={identities.forget}>
              Log out
            </Button>
          </p>
        )}
        {apart && (
          <Notice look="warning">
            The panes are connected as {as.left} and {as.right}. Sessions belong to one user: reconnect both
            as the same user.
          </Notice>
        )}
      </div>
      <div className={right === null ? 'panes panes-1' : 'panes'}>
        <Pane
          key={`left-${left}`}
          side="left"
          dialect={left}
          onDialect={(dialect) => set({ left: dialect })}
          onConnectedAs={leftAs}
          {...shared}
        />
        {right !== null && (
          <Pane
            key={`right-${right}`}
            side="right"
            dialect={right}
            onDialect={(dialect) => set({ right: dialect })}
            onConnectedAs={rightAs}
            {...shared}
          />
        )}
      </div>
    </Page>
  );
}
