/** Shown in place of what the caller may not use. */

import { isLocal } from '../state/may.ts';
import { hrefOf, signInHref, useLocation } from '../state/router.ts';
import { useServer } from '../state/server.ts';
import { AdminPassword } from './admin-password.tsx';
import { Empty } from './empty.tsx';

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
