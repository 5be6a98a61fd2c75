/** Shown in place of a page: what the caller may not use, and what has crashed. */

import { Component, type ReactNode } from 'react';
import { isLocal } from '../state/may.ts';
import { hrefOf, signInHref, useLocation } from '../state/router.ts';
import { useServer } from '../state/server.ts';
import { Button, Empty } from './controls.tsx';

export function NoAccess() {
  const about = useServer();
  const place = useLocation();
  if (isLocal(about))
    return (
      <Empty
        title="Sign in to open this page"
        action={
          <a className="button button-primary" href={signInHref(place)}>
            Sign in
          </a>
        }
      >
        In open mode, everyone on this machine is the user <code>local</code> with the role developer.{' '}
        <AdminPassword />
      </Empty>
    );
  return (
    <Empty title="You do not have access" action={<a href={hrefOf({ page: 'new' })}>Start a session</a>}>
      Your role ({about.principal.role}) cannot open this page. Ask your administrator for access.
    </Empty>
  );
}

/** Where the operator of a server finds the password of `admin`. */
export function AdminPassword() {
  return (
    <>
      The server printed the password of <code>admin</code> on its first start; on its machine,{' '}
      <code>parlance user password admin</code> sets a new one.
    </>
  );
}

/** Error boundary of a page: the rest of the console keeps working. */
export class Boundary extends Component<{ children: ReactNode }, { thrown: unknown }> {
  override state = { thrown: null as unknown };

  static getDerivedStateFromError(thrown: unknown) {
    return { thrown };
  }

  override render() {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    if (isLoadError(thrown))
      return (
        <main className="page">
          <Empty
            title="Cannot load this page"
            action={<Button onClick={() => location.reload()}>Reload</Button>}
          >
            The server cannot be reached, or it has been updated.
          </Empty>
        </main>
      );
    return (
      <main className="page">
        <Empty title="This page crashed" action={<Button onClick={() => location.reload()}>Reload</Button>}>
          {thrown instanceof Error ? thrown.message : String(thrown)}
        </Empty>
      </main>
    );
  }
}

/** Whether a script of the page could not be loaded. Browsers have no other sign of it than the message. */
const isLoadError = (thrown: unknown): boolean =>
  thrown instanceof TypeError && /module/i.test(thrown.message) && /import|fetch|load/i.test(thrown.message);
