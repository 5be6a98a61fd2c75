/** Frame around every page: the sidebar (a drawer on narrow screens) and the page. */

import type { CallOptions } from '@parlance/sdk';
import { dollars } from '@parlance/ui/chat/cost.ts';
import { closeFiles, closePreview, previews, shownFiles } from '@parlance/ui/chat/preview.ts';
import { Button, Icon, IconButton, Notice, Toasts } from '@parlance/ui/components/controls.tsx';
import { CanPreview } from '@parlance/ui/markdown/code-block.tsx';
import { useConnection, useDisconnected } from '@parlance/ui/state/activity.ts';
import { isLocal } from '@parlance/ui/state/may.ts';
import { hrefOf, type Route, signInHref, useLocation } from '@parlance/ui/state/router.ts';
import { logOut, parlance, useServer } from '@parlance/ui/state/server.ts';
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { useStore } from '@parlance/ui/state/store.ts';
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from 'react';
import { Logo } from '../components/page.tsx';
import { useWaiting } from '../state/approvals.ts';
import { usePolled } from '../state/use-polled.ts';
import { isCurrent, type PageLink, pagesFor } from './pages.ts';
import { Sessions } from './sessions.tsx';

const PreviewPanel = lazy(async () => {
  const { PreviewPanel: Panel } = await import('@parlance/ui/chat/preview-panel.tsx');
  return { default: Panel };
});

const FilesPanel = lazy(async () => {
  const { FilesPanel: Panel } = await import('../pages/chat/files-panel.tsx');
  return { default: Panel };
});

/** The sidebar is beside the page. */
const WIDE = '(min-width: 801px)';

export function Layout({ route, children }: { route: Route; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const { isOpen: isPreviewing } = useStore(previews);
  const files = useStore(shownFiles);

  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the drawer
  useEffect(() => {
    setOpen(false);
    closePreview();
    closeFiles();
  }, [route]);
  useEffect(() => {
    if (!open) return;
    const close = () => setOpen(false);
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && close();
    const wide = matchMedia(WIDE);
    addEventListener('keydown', onKey);
    wide.addEventListener('change', close);
    return () => {
      removeEventListener('keydown', onKey);
      wide.removeEventListener('change', close);
    };
  }, [open]);

  return (
    <div className={open ? 'layout layout-open' : 'layout'}>
      <button type="button" className="skip" onClick={focusMain}>
        Skip to content
      </button>
      <IconButton
        className="drawer-button"
        icon={open ? 'close' : 'menu'}
        label={open ? 'Close menu' : 'Open menu'}
        aria-expanded={open}
        aria-controls="sidebar"
        onClick={() => setOpen(!open)}
      />
      <Sidebar route={route} />
      {open && <div className="backdrop" aria-hidden="true" onPointerDown={() => setOpen(false)} />}
      <div className="content" inert={open}>
        <ConnectionBar />
        <CanPreview value={true}>{children}</CanPreview>
      </div>
      {isPreviewing && (
        <Suspense>
          <PreviewPanel />
        </Suspense>
      )}
      {files && (
        <Suspense>
          <FilesPanel {...files} />
        </Suspense>
      )}
      <Toasts />
    </div>
  );
}

/** A button, since a link would change the hash and thereby the page. */
function focusMain(): void {
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

/** Short interruptions are not shown. */
const GRACE_MS = 1_200;

/** Shows that the connection is lost, why, and when the next attempt is. */
function ConnectionBar() {
  const connection = useConnection();
  const broken = useDisconnected();
  const [shown, setShown] = useState(false);
  const [now, setNow] = useState(Date.now);

  useEffect(() => {
    if (!broken) return setShown(false);
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [broken]);
  useEffect(() => {
    if (!shown) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [shown]);

  if (!shown) return null;
  if (connection.status !== 'waiting')
    return <Notice variant="warning">Reconnecting … The page may be out of date.</Notice>;
  const seconds = Math.max(1, Math.ceil((connection.retryAt - now) / 1_000));
  return (
    <Notice variant="warning" action={<Button onClick={connection.retryNow}>Try now</Button>}>
      Not connected: {connection.fault.message} Retrying in {seconds} s. The page may be out of date.
    </Notice>
  );
}

// Navigation: the pages, and the searchable session list.

function Sidebar({ route }: { route: Route }) {
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
      <Pages />
      <Sessions chosen={route.page === 'session' || route.page === 'timeline' ? route.id : null} />
      <Account />
    </aside>
  );
}

const DEVELOPER = 'parlance.developer';

function Pages() {
  const about = useServer();
  const place = useLocation();
  const links = pagesFor(about);
  const ofDeveloper = links.filter(({ group }) => group === 'Developer');
  const isInside = ofDeveloper.some((link) => isCurrent(link, place));
  const [opened, setOpened] = useState(() => readStorage('local', DEVELOPER) !== null);
  const isOpen = opened || isInside;
  return (
    <nav aria-label="Pages">
      {links
        .filter(({ group }) => !group)
        .map((link) => (
          <NavLink key={link.label} link={link} />
        ))}
      {ofDeveloper.length > 0 && (
        <button
          type="button"
          className="nav-link nav-fold"
          title="For people who write clients and look into what happened"
          aria-expanded={isOpen}
          disabled={isInside}
          onClick={() => {
            setOpened(!isOpen);
            writeStorage('local', DEVELOPER, isOpen ? null : 'open');
          }}
        >
          <Icon name="playground" />
          Developer
          <span className="fold-mark" data-open={isOpen || undefined}>
            <Icon name="chevron" />
          </span>
        </button>
      )}
      {isOpen && (
        <div className="nav-inner">
          {ofDeveloper.map((link) => (
            <NavLink key={link.label} link={link} />
          ))}
        </div>
      )}
    </nav>
  );
}

function NavLink({ link }: { readonly link: PageLink }) {
  const waiting = useWaiting();
  const place = useLocation();
  const { route, query, label, icon } = link;
  return (
    <a
      className="nav-link"
      href={hrefOf(route, query)}
      aria-current={isCurrent(link, place) ? 'page' : undefined}
    >
      <Icon name={icon} />
      {label}
      {route.page === 'approvals' && waiting > 0 && (
        <span className="count" title={`${waiting} waiting`}>
          {waiting}
          <span className="unseen"> waiting</span>
        </span>
      )}
    </a>
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
        <CostToday user={principal.id} />
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

const COST_MS = 60_000;

/** What the caller's model calls have cost today, with a way to the details; nothing if they were free or have no price. */
function CostToday({ user }: { readonly user: string }) {
  const ask = useCallback(
    async ({ signal }: CallOptions) => {
      const day = new Date().toISOString().slice(0, 10);
      const { rows } = await parlance.usage.report({ from: day, to: day, user, signal });
      return rows.reduce((sum, row) => sum + row.dollars, 0);
    },
    [user],
  );
  const { value } = usePolled(ask, COST_MS);
  if (value === null || value === 0) return null;
  return (
    <a
      className="cost-today"
      href={hrefOf({ page: 'admin' }, { section: 'usage' })}
      title="What your model calls have cost today (UTC)"
    >
      {dollars(value)} today
    </a>
  );
}
