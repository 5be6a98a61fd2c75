/** Navigation: the pages, and the searchable session list. */
import { IconButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Logo } from '../components/logo.tsx';
import { hrefOf, type Route, signInHref, useLocation } from '../router.ts';
import { useApprovals } from '../state/approvals.ts';
import { isLocal } from '../state/may.ts';
import { logOut, useServer } from '../state/server.ts';
import { pagesFor } from './pages.ts';
import { Sessions } from './sessions.tsx';

export function Sidebar({ route }: { route: Route }) {
  const waiting = useApprovals().approvals.length;
  const about = useServer();
  return (
    <aside className="sidebar" id="sidebar" aria-label="Navigation">
      <a className="brand" href={hrefOf({ page: 'new' })}>
        <Logo />
        Parlance
      </a>
      <a className="button button-primary new-chat" href={hrefOf({ page: 'new' })}>
        <Icon name="plus" />
        New session
      </a>
      <nav aria-label="Pages">
        {pagesFor(about).map(({ route: to, label, icon }) => (
          <a
            key={to.page}
            className="nav-link"
            href={hrefOf(to)}
            aria-current={to.page === route.page ? 'page' : undefined}
          >
            <Icon name={icon} />
            {label}
            {to.page === 'approvals' && waiting > 0 && (
              <span className="count" title={`${waiting} waiting`}>
                {waiting}
                <span className="unseen"> waiting</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <Sessions chosen={route.page === 'session' || route.page === 'timeline' ? route.id : null} />
      <Account />
    </aside>
  );
}

function Account() {
  const about = useServer();
  const { principal, version } = about;
  const local = isLocal(about);
  const place = useLocation();
  return (
    <footer className="account">
      <span className="account-name">
        {local ? 'Open mode' : principal.id}
        <small>
          {local ? 'no sign-in required' : principal.role} · {version}
        </small>
      </span>
      {local ? (
        <a className="button button-quiet" href={signInHref(place)}>
          Sign in
        </a>
      ) : (
        <IconButton icon="leave" label="Sign out" onClick={() => void logOut()} />
      )}
    </footer>
  );
}
