/**
 * Clients of any dialect in the page, over real connections; two of them on one session, side by side. Session and
 * dialects are in the address, so that a setup can be linked to.
 */
import type { Dialect, DialectList } from '@parlance/sdk';
import { Button, Choice, Notice } from '@parlance/ui/components/controls.tsx';
import { go, hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { useCallback, useState } from 'react';
import { Page } from '../../components/page.tsx';
import { dialectNamed, useDialects } from '../../state/dialects.ts';
import { type Identities, newName, Pane, useIdentity } from './pane.tsx';

/** The dialect of that name, or the one at a position among those with sockets. */
const dialectOf = (list: DialectList, name: string | undefined, position: number): Dialect | undefined =>
  dialectNamed(list, name ?? '') ??
  list.dialects.filter(({ socket }) => socket !== null)[position] ??
  list.dialects[0];

export function PlaygroundPage() {
  const list = useDialects();
  const identities = useIdentity();
  if (list === null || identities === null) return <Page title="Playground">{null}</Page>;
  return <Playground list={list} identities={identities} />;
}

type PlaygroundProps = { readonly list: DialectList; readonly identities: Identities };

function Playground({ list, identities }: PlaygroundProps) {
  const { query } = useLocation();
  const [begun] = useState(newName);
  const [as, setAs] = useState<{ readonly left: string | null; readonly right: string | null }>({
    left: null,
    right: null,
  });
  const session = query.session ?? begun;
  const left = dialectOf(list, query.left, 0);
  const right = query.right === 'none' ? undefined : dialectOf(list, query.right, 1);
  const set = (part: Readonly<Record<string, string>>) =>
    go({ page: 'playground' }, { ...query, session, ...part }, 'replace');
  const leftAs = useCallback((name: string | null) => setAs((now) => ({ ...now, left: name })), []);
  const rightAs = useCallback((name: string | null) => setAs((now) => ({ ...now, right: name })), []);
  const apart = as.left !== null && as.right !== null && as.left !== as.right;
  const connected = as.left !== null || as.right !== null;
  const shared = { list, session, identities };

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
              set({ right: right === undefined ? '' : 'none' });
              if (right !== undefined) rightAs(null);
            }}
          >
            {right === undefined ? 'Two panes' : 'One pane'}
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
            <Button variant="quiet" onClick={identities.forget}>
              Sign out
            </Button>
          </p>
        )}
        {apart && (
          <Notice variant="warning">
            The panes are connected as {as.left} and {as.right}. Sessions belong to one user: reconnect both
            as the same user.
          </Notice>
        )}
      </div>
      <div className={right === undefined ? 'panes panes-1' : 'panes'}>
        {left !== undefined && (
          <Pane
            key={`left-${left.name}`}
            side="left"
            dialect={left}
            onDialect={(dialect) => set({ left: dialect })}
            onConnectedAs={leftAs}
            {...shared}
          />
        )}
        {right !== undefined && (
          <Pane
            key={`right-${right.name}`}
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
